"""Every fault, in the order in which they are tried."""

from collections.abc import Sequence
from typing import Final

from tests.reliability.chaos.faults.fault import Fault
from tests.reliability.chaos.faults.killing import KILL
from tests.reliability.chaos.faults.mixed import mixed
from tests.reliability.chaos.faults.of_clocks import CLOCKS
from tests.reliability.chaos.faults.of_disk import DISK_FULL
from tests.reliability.chaos.faults.of_kafka import KAFKA_RESTART, REBALANCES, ZOMBIE
from tests.reliability.chaos.faults.of_postgres import (
    CUTS,
    DEADLOCKS,
    POSTGRES_REFUSES,
    POSTGRES_RESTART,
    SILENCE,
    UNKNOWN_COMMITS,
)
from tests.reliability.chaos.faults.of_servers import SERVER_CRASHES, SERVER_SILENT, SLICES_MOVE
from tests.reliability.chaos.faults.of_sqs import SQS_FAULTS

_TOGETHER: Final[Sequence[Fault]] = (
    KILL,
    *SQS_FAULTS,
    POSTGRES_RESTART,
    CUTS,
    SILENCE,
    UNKNOWN_COMMITS,
    POSTGRES_REFUSES,
    DEADLOCKS,
    REBALANCES,
    KAFKA_RESTART,
    ZOMBIE,
)
MIXED: Final = mixed(_TOGETHER)
FAULTS: Final[Sequence[Fault]] = (*_TOGETHER, DISK_FULL, CLOCKS, SERVER_CRASHES, SERVER_SILENT, SLICES_MOVE, MIXED)
SHORT: Final[Sequence[Fault]] = (MIXED,)
