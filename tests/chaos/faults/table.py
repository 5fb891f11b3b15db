"""Every fault, in the order in which they are tried."""

from collections.abc import Sequence
from typing import Final

from tests.chaos.faults.fault import Fault
from tests.chaos.faults.killing import KILL
from tests.chaos.faults.of_kafka import KAFKA_RESTART, REBALANCES, ZOMBIE
from tests.chaos.faults.of_postgres import DEADLOCKS, POSTGRES_REFUSES, POSTGRES_RESTART

FAULTS: Final[Sequence[Fault]] = (
    KILL,
    POSTGRES_RESTART,
    POSTGRES_REFUSES,
    DEADLOCKS,
    REBALANCES,
    KAFKA_RESTART,
    ZOMBIE,
)
