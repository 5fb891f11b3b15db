"""The share of definitions whose closed parts are kept. It is set for all processes, while they run."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.errors import Refused, Unavailable
from abacus.platform.fresh_copy import FreshCopy
from abacus.platform.postgres import Also, Pool, nothing_else, passing_failures
from abacus.platform.sql import Statement

ALL: Final = 100

_NAME: Final = "cache_share"
_READ_EVERY_S: Final = 15.0
_READ_WITHIN_S: Final = 5.0
_LOOK_AGAIN_EVERY_S: Final = 0.2

_READ: Final = Statement("select value, set_at, set_by from counter_setting where name = :name")
_SET: Final = Statement("""
insert into counter_setting (name, value, set_at, set_by) values (:name, :value, :set_at, :set_by)
on conflict (name) do update set value = excluded.value, set_at = excluded.set_at, set_by = excluded.set_by
""")


class Share(NamedTuple):
    """The share in percent, and who set it."""

    percent: int
    set_at: datetime
    set_by: str


class CacheShareStore:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def read(self) -> Share | None:
        """None: nobody has set it, and nothing is kept."""
        async with passing_failures():
            row = await self._pool.fetchrow(*_READ(name=_NAME))
        return Share(*row) if row is not None else None

    async def set(self, percent: int, *, by: str, also: Also = nothing_else) -> Share:
        """Raises `Refused` for a share that is none."""
        if not 0 <= percent <= ALL:
            raise Refused(f"--share: between 0 and {ALL}")
        share = Share(percent, self._clock.now(), by)
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(*_SET(name=_NAME, value=share.percent, set_at=share.set_at, set_by=share.set_by))
            await also(connection)
        return share


class CacheShare(FreshCopy[Share, int]):
    """The share as it was last read; announced changes are in force within moments."""

    def __init__(self, load: Callable[[], Awaitable[Share | None]]) -> None:
        async def loaded() -> Sequence[Share]:
            share = await load()
            return () if share is None else (share,)

        super().__init__(
            "counter settings",
            loaded,
            key=lambda _: _NAME,
            build=lambda shares: sum(share.percent for share in shares),
            refresh_every_s=_READ_EVERY_S,
            load_within_s=_READ_WITHIN_S,
            look_again_every_s=_LOOK_AGAIN_EVERY_S,
        )

    def includes(self, definition_id: int) -> bool:
        """Whether the closed parts of this definition are kept. Nothing is kept before the share was ever read."""
        try:
            return definition_id % ALL < self.value()
        except Unavailable:
            return False
