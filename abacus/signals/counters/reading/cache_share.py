"""Of which definitions closed parts are kept. It is set for all processes, while they run.

It is a share of the definitions, without definitions just published or counted by a backfill: what was 0 a
moment ago may be counted now. Nothing of these is kept, nor taken from what was kept before, for as long as parts are
kept. So no cache, in a process or shared, has anything left of the time before.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import Final

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.platform.fresh_copy import Cadence, FreshCopy
from abacus.platform.postgres import Also, Pool, nothing_else, passing_failures
from abacus.platform.reading.cache_shares import SettingStore
from abacus.platform.reading.decide.shares import Setting, are_off
from abacus.platform.reading.types import ALL
from abacus.platform.sql import Statement
from abacus.signals.counters.decide.definition import Definition

PARTS_KEPT: Final = timedelta(hours=1)  # at most; so long a count lags behind an event that was later than the bound

_NAME: Final = "cache_share"
_REPLAYED: Final = "replayed:"  # and the id of a definition
_QUIET: Final = PARTS_KEPT + timedelta(minutes=1)  # clocks differ, and announcements take a moment
_CADENCE: Final = Cadence(refresh_every_s=15.0, look_again_every_s=0.2)

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
        return next((each for each in await self.all() if each.name == _NAME), None)

    async def all(self) -> Sequence[Setting]:
        return await self._settings.all()

    async def replayed(self, definition: Definition, *, by: str) -> None:
        """What was counted before this moment is counted by the definition now: all processes forget what they keep."""
        async with passing_failures():
            await self._pool.execute(*_REPLAY(name=f"{_REPLAYED}{definition.id}", set_by=by))

    async def set(self, percent: int, *, by: str, also: Also = nothing_else) -> Setting:
        """Raises `Refused` for a share that is none."""
        return await self._settings.set(_NAME, percent, by=by, also=also)


class CacheShare(FreshCopy[Sequence[Setting], Mapping[str, Setting]]):
    """The settings as they were last read; announced changes are in force within moments."""

    def __init__(self, load: Callable[[], Awaitable[Sequence[Setting]]], clock: Clock) -> None:
        super().__init__(
            "counter settings",
            lambda _: load(),
            lambda settings: {each.name: each for each in settings},
            _CADENCE,
        )
        self._clock = clock

    def keeps(self, definition: Definition) -> bool:
        """Whether closed parts of this definition are kept now. Nothing is kept before the settings were ever read."""
        try:
            settings = self.value()
        except Unavailable:
            return False
        if are_off(settings):
            return False
        share, replayed = settings.get(_NAME), settings.get(f"{_REPLAYED}{definition.id}")
        if share is None or definition.id % ALL >= share.value:
            return False
        changed_at = definition.published_at if replayed is None else max(definition.published_at, replayed.set_at)
        return self._clock.now() - changed_at > _QUIET
