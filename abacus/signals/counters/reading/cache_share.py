"""Of which definitions closed parts are kept. It is set for all processes, while they run.

It is a share of the definitions, without definitions just published or counted by a backfill: what was 0 a
moment ago may be counted now. Nothing of these is kept, nor taken from what was kept before, for as long as parts are
kept. So no cache, in a process or shared, has anything left of the time before.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.errors import Refused, Unavailable
from abacus.platform.fresh_copy import Cadence, FreshCopy
from abacus.platform.postgres import Also, Pool, nothing_else, passing_failures
from abacus.platform.sql import Statement, columns
from abacus.signals.counters.decide.definition import Definition

ALL: Final = 100
PARTS_KEPT: Final = timedelta(hours=1)  # at most; so long a count lags behind an event that was later than the bound

_NAME: Final = "cache_share"
_REPLAYED: Final = "replayed:"  # and the id of a definition
_QUIET: Final = PARTS_KEPT + timedelta(minutes=1)  # clocks differ, and announcements take a moment
_CADENCE: Final = Cadence(refresh_every_s=15.0, look_again_every_s=0.2)

_SET: Final = Statement("""
insert into counter_setting (name, value, set_at, set_by) values (:name, :value, :set_at, :set_by)
on conflict (name) do update set value = excluded.value, set_at = excluded.set_at, set_by = excluded.set_by
""")
_REPLAY: Final = Statement("""
insert into counter_setting (name, value, set_at, set_by) values (:name, 0, now(), :set_by)
on conflict (name) do update set set_at = excluded.set_at, set_by = excluded.set_by
""")


class Setting(NamedTuple):
    """A row of `counter_setting`."""

    name: str
    value: int  # of the share: the percentage
    set_at: datetime
    set_by: str


_ALL_OF_THEM: Final = Statement(f"select {columns(Setting)} from counter_setting")


class CacheShareStore:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def share(self) -> Setting | None:
        """None: nobody has set it, and nothing is kept."""
        return next((each for each in await self.all() if each.name == _NAME), None)

    async def all(self) -> list[Setting]:
        """All settings."""
        async with passing_failures():
            return [Setting(*row) for row in await self._pool.fetch(*_ALL_OF_THEM())]

    async def replayed(self, definition: Definition, *, by: str) -> None:
        """What was counted before this moment is counted by the definition now: all processes forget what they keep."""
        async with passing_failures():
            await self._pool.execute(*_REPLAY(name=f"{_REPLAYED}{definition.id}", set_by=by))

    async def set(self, percent: int, *, by: str, also: Also = nothing_else) -> Setting:
        """Raises `Refused` for a share that is none."""
        if not 0 <= percent <= ALL:
            raise Refused(f"--share: between 0 and {ALL}")
        share = Setting(_NAME, percent, self._clock.now(), by)
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(*_SET(**share._asdict()))
            await also(connection)
        return share


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
        share, replayed = settings.get(_NAME), settings.get(f"{_REPLAYED}{definition.id}")
        if share is None or definition.id % ALL >= share.value:
            return False
        changed_at = definition.published_at if replayed is None else max(definition.published_at, replayed.set_at)
        return self._clock.now() - changed_at > _QUIET
