"""Looks from time to time for owners that have come to their limit and are not marked: a process that saw it may have
died before it could mark them.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Final, Generic, TypeVar

from abacus.engage.limits.decide.pots import Limited, is_exhausted, pot_of
from abacus.engage.limits.pot_store import PotStore
from abacus.engage.limits.types import Bounded
from abacus.platform import slices
from abacus.platform.health import WorkerHealth
from abacus.platform.patience import unless_stopped, until_available
from abacus.platform.postgres import Pool

_LOOK_EVERY_S: Final = 60.0

Document = TypeVar("Document", bound=Bounded)


class ExhaustionWatch(Generic[Document]):
    """Of documents that have a limit over their whole life."""

    def __init__(
        self,
        pool: Pool,
        pots: PotStore,
        in_force: Callable[[], Iterable[Document]],
        mark: Callable[[Sequence[Document]], Awaitable[None]],
        health: WorkerHealth,
    ) -> None:
        self._pool = pool
        self._pots = pots
        self._in_force = in_force
        self._mark = mark
        self._health = health

    async def run(self, stop: asyncio.Event) -> None:
        """Runs until `stop` is set."""
        while not stop.is_set():
            await unless_stopped(until_available(self.look, self._health), stop)
            self._health.ready()
            await unless_stopped(asyncio.sleep(_LOOK_EVERY_S), stop)

    async def look(self) -> None:
        """Nothing is marked while the server of a slice is away. Raises `Unavailable` when more is."""
        await slices.unless_away(self._pool, self._look())

    async def _look(self) -> None:
        documents = {pot_of(each.owner): each for each in self._in_force()}
        limited = {pot: Limited(each.limits.overall, each.version) for pot, each in documents.items()}
        left = await self._pots.left(limited)
        seeming = {pot: limited[pot] for pot, rest in left.items() if is_exhausted(documents[pot], rest)}
        left = await self._pots.exactly_left(seeming)
        await self._mark([documents[pot] for pot, rest in left.items() if is_exhausted(documents[pot], rest)])
