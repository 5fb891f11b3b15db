"""Members are sifted who come in or are moved: members go on who can, and members who cannot be told come out in one
go, by their names. A fault that names nobody is looked for in halves.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, TypeAlias

from abacus.engage.journeys.asking import Untold
from abacus.engage.journeys.gate import Comer, JourneyAtFault, is_passing
from abacus.engage.journeys.halving import in_halves
from abacus.platform.following.passing_over import PassedOver

# Lets members in, or moves them; the number of members. What is attempted again has the same outcome.
Attempt: TypeAlias = Callable[[Sequence[Comer]], Awaitable[int]]


class Sifted(NamedTuple):
    """How many members went on, and who cannot be decided, each with the fault."""

    done: int
    faults: Sequence[tuple[Comer, str]]


class _Sieve:
    """Comers to one journey."""

    def __init__(self, attempt: Attempt, over: PassedOver | None) -> None:
        self._attempt = attempt
        self._over = over
        self.done = 0
        self.untold: dict[tuple[str, str], tuple[Comer, str]] = {}

    async def take(self, comers: Sequence[Comer]) -> None:
        """All of them but the members who cannot be told."""
        there = [each for each in comers if each.place not in self.untold]
        while there:
            try:
                self.done += await self._attempt(there)
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


async def sifted(attempt: Attempt, comers: Sequence[Comer], over: PassedOver | None = None) -> Sifted:
    """Slices whose servers are away are passed `over`. Raises `JourneyAtFault`, and `Unavailable` for what passes."""
    sieve = _Sieve(attempt, over)
    faults = await in_halves(
        comers, sieve.take, concerns_all=lambda fault: is_passing(fault) or isinstance(fault, JourneyAtFault)
    )
    return Sifted(sieve.done, [*sieve.untold.values(), *(each for each in faults if each[0].place not in sieve.untold)])
