"""Every scenario, in the order in which they are played."""

from collections.abc import Sequence
from typing import Final

from tests.chaos.scenarios.draining import DRAINING
from tests.chaos.scenarios.line import LINE_STOPPED
from tests.chaos.scenarios.overload import OVERLOAD
from tests.chaos.scenarios.poison import POISON
from tests.chaos.scenarios.redrive import REDRIVE
from tests.chaos.scenarios.scenario import Scenario

SCENARIOS: Final[Sequence[Scenario]] = (DRAINING, POISON, LINE_STOPPED, REDRIVE, OVERLOAD)
