"""Programmes in the versions by which exchanges were asked for: read once, and kept."""

from datetime import datetime
from typing import Final

from abacus.core.errors import Unavailable
from abacus.core.recent import Recent
from abacus.exchanges.decide.programme import Programme
from abacus.exchanges.programme_store import ProgrammeStore

_MOST: Final = 1_000


class ProgrammeVersions:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, store: ProgrammeStore) -> None:
        self._store = store
        self._known: Recent[tuple[str, int], Programme] = Recent(_MOST)

    async def of(self, name: str, version: int) -> Programme:
        """A version that was in force. Raises `Unavailable`, also where none such was."""
        found = await self.find(name, version)
        if found is None:
            raise Unavailable("exchanges", f"no {name}@{version} was approved")
        return found

    async def find(self, name: str, version: int) -> Programme | None:
        """A version that was in force, or None where none such was."""
        place = name, version
        if (known := self._known.get(place)) is not None:
            return known
        found = [each.document for each in await self._store.find([place]) if each.approved_at is not None]
        if not found:
            return None
        self._known.put(place, found[0])
        return found[0]

    async def last(self, name: str) -> Programme | None:
        """The version that was in force last, as it is read now."""
        history = [each.document for each in await self._store.history(name) if each.approved_at is not None]
        return max(history, key=lambda each: each.version, default=None)

    async def is_over(self, name: str, now: datetime) -> bool:
        """Whether no version is in force any more, or will be: a paused one may go on."""
        return not any(each.in_force and now < each.document.ends_at for each in await self._store.history(name))
