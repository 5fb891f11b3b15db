"""Every scenario, in the order in which they are played."""

from collections.abc import Sequence
from typing import Final

from tests.reliability.chaos.scenarios.draining import DRAINING
from tests.reliability.chaos.scenarios.exchanging import EXCHANGES
from tests.reliability.chaos.scenarios.line import LINE_STOPPED
from tests.reliability.chaos.scenarios.overload import OVERLOAD
from tests.reliability.chaos.scenarios.poison import POISON
from tests.reliability.chaos.scenarios.redrive import REDRIVE
from tests.reliability.chaos.scenarios.scenario import Scenario
from tests.reliability.chaos.scenarios.stalling import CACHE_STALL
from tests.reliability.chaos.scenarios.taking import TAKING

SCENARIOS: Final[Sequence[Scenario]] = (
    DRAINING,
    POISON,
    LINE_STOPPED,
    REDRIVE,
    TAKING,
    EXCHANGES,
    CACHE_STALL,
    OVERLOAD,
)
