"""Of which definitions closed parts are kept. It is set for all processes, while they run."""

from collections.abc import Callable
from typing import Final

from abacus.core.clock import Clock
from abacus.platform.postgres import Also, Pool, nothing_else, passing_failures
from abacus.platform.reading.cache_shares import SettingStore
from abacus.platform.reading.caches import Caches
from abacus.platform.reading.decide.shares import Setting, name_of
from abacus.platform.sql import Statement
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.reading.closed_parts import COUNTS, ClosedParts
from abacus.signals.counters.reading.decide.kept import is_kept, replay_of

_REPLAY: Final = Statement("""
insert into counter_setting (name, value, set_at, set_by) values (:name, 0, now(), :set_by)
on conflict (name) do update set set_at = excluded.set_at, set_by = excluded.set_by
""")


class CacheShareStore:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._settings = SettingStore(pool, clock)

    async def share(self) -> Setting | None:
        """None: nobody has set it, and nothing is kept."""
        return next((each for each in await self._settings.all() if each.name == name_of(COUNTS)), None)

    async def replayed(self, definition: Definition, *, by: str) -> None:
        """What was counted before this moment is counted by the definition now: all processes forget what they keep."""
        async with passing_failures():
            await self._pool.execute(*_REPLAY(name=replay_of(definition), set_by=by))

    async def set(self, percent: int, *, by: str, also: Also = nothing_else) -> Setting:
        """Raises `Refused` for a share that is none."""
        return await self._settings.set(name_of(COUNTS), percent, by=by, also=also)


def keeps_in(caches: Caches, parts: ClosedParts, clock: Clock) -> Callable[[Definition], bool]:
    """Whether closed parts of a definition are kept now."""
    return lambda definition: is_kept(definition, parts.share, caches.settings, clock.now())
