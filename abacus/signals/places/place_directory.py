"""The places in force, as a process keeps them: all are read at the start, then what has changed."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from typing import Final, TypeAlias

from abacus.core.errors import Refused
from abacus.platform.announcements import Announced
from abacus.platform.fresh_copy import Cadence, FreshCopy
from abacus.platform.postgres import Pool
from abacus.signals.places.decide.place_index import PlaceIndex
from abacus.signals.places.place_store import PlaceStore

Listener: TypeAlias = Callable[[Collection[int]], None]  # told the numbers of places

_CADENCE: Final = Cadence(load_within_s=120.0)
_PAGE: Final = 500
# Each place takes some ten microseconds, and requests are answered in between.
_AT_ONCE: Final = 100


class PlaceDirectory(FreshCopy[int, PlaceIndex]):
    """Serves the index of all places. Every method raises `Unavailable` when they were never read.

    The index is one and the same: a change costs as much as the places that have changed.
    """

    def __init__(self, pool: Pool, cadence: Cadence = _CADENCE) -> None:
        self._store = PlaceStore(pool)
        self._index = PlaceIndex()
        self._listeners: list[Listener] = []
        super().__init__("places", self._load, lambda _: self._index, cadence)
        self.tables = (Announced.PLACES,)  # whose changes are read

    def on_change(self, listener: Listener) -> None:
        """From now on, call this with the numbers under which places came, changed or went, as soon as the index has
        them.
        """
        self._listeners.append(listener)

    async def at_version(self, version: int) -> PlaceIndex:
        """The index with all changes up to one that the caller knows of. Raises `Unavailable` when it cannot be read
        now, and `Refused` when there is no such version.
        """
        if self.value().version < version:
            await self.read_anew()
        if (index := self.value()).version < version:
            raise Refused(f"places have version {index.version}; a load answers theirs")
        return index

    async def _load(self, before: int | None) -> int:
        upto = await self._store.version()
        changed = await self._read_all() if before is None else await self._read_changed(before, upto)
        self._index.version = upto  # before anybody hears of it, so that nothing is told of the version before
        if changed:
            for listener in self._listeners:
                listener(changed)
        return upto

    async def _read_all(self) -> Sequence[int]:
        self._index = PlaceIndex()  # a reading that was broken off leaves none
        async for page in self._store.all(_PAGE):
            for first in range(0, len(page), _AT_ONCE):
                for each in page[first : first + _AT_ONCE]:
                    self._index.put(each)
                await asyncio.sleep(0)
        return ()

    async def _read_changed(self, before: int, upto: int) -> Sequence[int]:
        """The numbers of the places that have changed."""
        changed: list[int] = []
        async for there, gone in self._store.since(before, upto, _AT_ONCE):
            changed += [number for id_ in gone if (number := self._index.remove(id_)) is not None]
            changed += [self._index.put(each) for each in there]
        return changed
