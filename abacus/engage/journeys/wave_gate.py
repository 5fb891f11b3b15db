"""The gate for waves: who cannot be told is late, and holds up nobody else. Where nobody can be told, the wave waits:
a service that is away stops it, instead of making the whole of it late.
"""

from collections.abc import Sequence
from typing import Final

from abacus.core.errors import Unavailable
from abacus.engage.journeys.asking import FACTS
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.gate import Comer, Gate
from abacus.engage.journeys.late_entries import LateEntries
from abacus.engage.journeys.sifting import sifted
from abacus.platform.following.passing_over import PassedOver

_MOST_IN_A_ROW: Final = 20  # members who cannot be told: behind them it is for a reason that all have


class WaveGate:
    """For one process at a time. Every method raises `Unavailable`."""

    def __init__(self, gate: Gate, late: LateEntries) -> None:
        self._gate = gate
        self._late = late
        self._late_in_a_row: dict[str, int] = {}

    async def let_in(self, journey: Journey, comers: Sequence[Comer], over: PassedOver) -> None:
        """A page of them. Members of slices that are passed `over`, from now on or since before, are left out."""

        async def attempt(some: Sequence[Comer]) -> int:
            return await self._gate.let_in(journey, some, over)

        faults = (await sifted(attempt, comers, over)).faults
        in_a_row = self._late_in_a_row.get(journey.name, 0) + len(faults)
        if len(faults) < len(await over.kept(comers)):
            in_a_row = 0
        elif in_a_row > _MOST_IN_A_ROW:
            raise Unavailable(FACTS, f"nobody of {len(faults)} members can be told: {faults[0][1]}")
        self._late_in_a_row[journey.name] = in_a_row
        await self._late.keep(journey, faults, over)
