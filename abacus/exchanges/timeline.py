"""Notices that the house was restored: its database is on another timeline than when the exchanger looked last.

The house may have forgotten an exchange that is credited. So nothing is sent to partners until a person says that
their statements since then are matched.
"""

from datetime import datetime
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.errors import Refused
from abacus.platform.postgres import Also, Pool, nothing_else, passing_failures
from abacus.platform.sql import Statement, columns


class Timeline(NamedTuple):
    """What is known of the server's log. Nothing is sent while `restored_to` is there, until statements that were read
    after `noticed_at` are matched.
    """

    timeline: str
    seen_at: datetime
    restored_to: datetime | None
    noticed_at: datetime | None
    by: str


_BY: Final = "exchanger"
_COLUMNS: Final = columns(Timeline)

# The first eight digits of a file of the log name its timeline.
_LOOK: Final = Statement(f"""
insert into exchange_timeline as t ({_COLUMNS})
select left(pg_walfile_name(pg_current_wal_lsn()), 8), :now, null, null, :by
on conflict (one) do update set timeline = excluded.timeline, seen_at = excluded.seen_at,
    restored_to = case when t.timeline <> excluded.timeline then coalesce(t.restored_to, t.seen_at)
        else t.restored_to end,
    noticed_at = case when t.timeline <> excluded.timeline then excluded.seen_at else t.noticed_at end,
    by = case when t.timeline <> excluded.timeline and t.restored_to is null then excluded.by else t.by end
returning {_COLUMNS}
""")
_STOP: Final = Statement(f"""
insert into exchange_timeline as t ({_COLUMNS})
select left(pg_walfile_name(pg_current_wal_lsn()), 8), :now, :restored_to, :now, :by
on conflict (one) do update set restored_to = least(t.restored_to, excluded.restored_to),
    noticed_at = excluded.noticed_at, by = excluded.by
""")
_GO_ON: Final = Statement("""
update exchange_timeline set restored_to = null, noticed_at = null, by = :by where restored_to is not null
""")
_READ: Final = f"select {_COLUMNS} from exchange_timeline"


class Timelines:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def look(self) -> Timeline:
        """Notes the timeline, and stops sending where it is another one than before."""
        async with passing_failures():
            return Timeline(*await self._pool.fetchrow(*_LOOK(now=self._clock.now(), by=_BY)))

    async def read(self) -> Timeline | None:
        async with passing_failures():
            row = await self._pool.fetchrow(_READ)
        return None if row is None else Timeline(*row)

    async def restored(self, to: datetime, by: str, *, also: Also = nothing_else) -> None:
        """The house was restored to this moment, by a dump for instance: nothing is sent from now on."""
        now = self._clock.now()
        if to > now:
            raise Refused(f"{to.isoformat()} is still to come")
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(*_STOP(now=now, restored_to=to, by=by))
            await also(connection)

    async def matched(self, by: str, *, also: Also = nothing_else) -> None:
        """The statements since then are matched: sending goes on."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(*_GO_ON(by=by))
            await also(connection)
