"""Of which share of its keys each cache keeps answers: it is set for all processes, while they run."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from abacus.core.clock import Clock
from abacus.core.errors import Refused
from abacus.platform.fresh_copy import Cadence, FreshCopy
from abacus.platform.postgres import Also, Pool, nothing_else, passing_failures
from abacus.platform.reading.decide.shares import Setting, Settings
from abacus.platform.reading.types import ALL
from abacus.platform.sql import Statement, columns

_CADENCE: Final = Cadence(refresh_every_s=15.0, look_again_every_s=0.2)

_SET: Final = Statement("""
insert into counter_setting (name, value, set_at, set_by) values (:name, :value, :set_at, :set_by)
on conflict (name) do update set value = excluded.value, set_at = excluded.set_at, set_by = excluded.set_by
""")


_ALL_OF_THEM: Final = Statement(f"select {columns(Setting)} from counter_setting")


class SettingStore:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def all(self) -> Sequence[Setting]:
        """All settings that somebody has set."""
        async with passing_failures():
            return [Setting(*row) for row in await self._pool.fetch(*_ALL_OF_THEM())]

    async def set(self, name: str, percent: int, *, by: str, also: Also = nothing_else) -> Setting:
        """Raises `Refused` for a share that is none."""
        if not 0 <= percent <= ALL:
            raise Refused(f"--share: between 0 and {ALL}")
        share = Setting(name, percent, self._clock.now(), by)
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(*_SET(**share._asdict()))
            await also(connection)
        return share


class CacheShares(FreshCopy[Sequence[Setting], Settings]):
    """The settings as they were last read; announced changes are in force within moments. `changed` is told each."""

    def __init__(self, load: Callable[[], Awaitable[Sequence[Setting]]], changed: Callable[[Settings], None]) -> None:
        def build(settings: Sequence[Setting]) -> Settings:
            by_name = {each.name: each for each in settings}
            changed(by_name)
            return by_name

        super().__init__("settings of caches", lambda _: load(), build, _CADENCE)
