"""Members at a gate are sifted: members come in who can, and members who cannot be told come out in one go, by their
names. A fault that names nobody is looked for in halves.
"""

from collections.abc import Sequence
from typing import NamedTuple

from abacus.engage.journeys.asking import Untold
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.gate import Comer, Gate, JourneyAtFault, is_passing
from abacus.engage.journeys.halving import in_halves
from abacus.platform.following.passing_over import PassedOver


class Sifted(NamedTuple):
    """How many members came in, and who cannot be decided, each with the fault."""

    entered: int
    faults: Sequence[tuple[Comer, str]]


class _Sieve:
    """Comers to one journey."""

    def __init__(self, gate: Gate, journey: Journey, over: PassedOver | None) -> None:
        self._gate = gate
        self._journey = journey
        self._over = over
        self.entered = 0
        self.untold: dict[tuple[str, str], tuple[Comer, str]] = {}

    async def let_in(self, comers: Sequence[Comer]) -> None:
        """All of them but the members who cannot be told."""
        there = [each for each in comers if each.place not in self.untold]
        while there:
            try:
                self.entered += await self._gate.let_in(self._journey, there, self._over)
            except Exception as fault:
                if self._over is not None and await self._over.find():
                    continue
                found = [each for each in there if isinstance(fault, Untold) and each.place in fault.places]
                if not found:
                    raise
                self.untold |= {each.place: (each, str(fault)) for each in found}
                there = [each for each in there if each.place not in self.untold]
            else:
                there = []


async def sifted(gate: Gate, journey: Journey, comers: Sequence[Comer], over: PassedOver | None = None) -> Sifted:
    """Lets in who may, as `Gate.let_in`. Raises `JourneyAtFault`, and `Unavailable` for what passes."""
    sieve = _Sieve(gate, journey, over)
    faults = await in_halves(
        comers, sieve.let_in, concerns_all=lambda fault: is_passing(fault) or isinstance(fault, JourneyAtFault)
    )
    return Sifted(
        sieve.entered, [*sieve.untold.values(), *(each for each in faults if each[0].place not in sieve.untold)]
    )
