"""The gate for waves: a page that cannot be told is taken in halves, and a member who alone cannot be told is late, and
holds up nobody behind it. So a service that is away stops a wave instead of making the whole of it late.
"""

from collections.abc import Sequence
from typing import Final

from abacus.core.errors import Unavailable
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.gate import FACTS, Comer, Gate, is_passing
from abacus.engage.journeys.late_entries import LateEntries
from abacus.platform.following.passing_over import PassedOver

_MOST_IN_A_ROW: Final = 20  # members who cannot be told: behind them it is for a reason that all have


class WaveGate:
    """For one process at a time. Every method raises `Unavailable`."""

    def __init__(self, gate: Gate, late: LateEntries, page: int) -> None:
        self._gate = gate
        self._late = late
        self._page = page
        self._most: dict[str, int] = {}  # members or accounts that come to a journey at once
        self._late_in_a_row: dict[str, int] = {}

    def most(self, journey: Journey) -> int:
        """How many come with the next page."""
        return self._most.get(journey.name, self._page)

    async def let_in(self, journey: Journey, comers: Sequence[Comer], over: PassedOver | None = None) -> None:
        """A page of them. Members of slices that are passed `over`, from now on or since before, are left out."""
        most = self.most(journey)
        try:
            await self._gate.let_in(journey, comers, over)
        except Exception as fault:
            if over is not None and await over.find():
                await self.let_in(journey, comers, over)
                return
            if is_passing(fault):
                raise
            in_a_row = self._late_in_a_row.get(journey.name, 0)
            if most > 1 or in_a_row >= _MOST_IN_A_ROW or _concerns_all(fault):
                self._most[journey.name] = max(1, most // 2)
                raise Unavailable(FACTS, str(fault)) from fault
            self._late_in_a_row[journey.name] = in_a_row + 1
            await self._late.keep(journey, [(each, f"{type(fault).__name__}: {fault}") for each in comers])
        else:
            self._most[journey.name] = min(self._page, 2 * most)
            self._late_in_a_row[journey.name] = 0


def _concerns_all(fault: Exception) -> bool:
    """Whether it is of the journey, and not of a member."""
    return isinstance(fault, Unavailable) and fault.dependency != FACTS
