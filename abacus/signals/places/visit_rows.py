"""The visits of members to regions, in the slices of the members. No coordinates are in them."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement, array, arrays, column, columns, row_of, unnested
from abacus.signals.places.decide.visit import Visit

_OF_MEMBERS: Final = Statement(f"""
select {columns(Visit)} from member_region where member_id = any({array("members", "text")})
order by member_id, region
""")

# What was written by a later position stays: a process that lost its partition and does not know it yet may come late.
_KEEP: Final = Statement(f"""
insert into member_region as r ({columns(Visit)}, seen_hour)
select u.*, date_trunc('hour', u.seen_at, 'UTC') from {unnested(Visit)} order by u.member_id, u.region
on conflict (member_id, region) do update
    set inside = excluded.inside, since = excluded.since, seen_at = excluded.seen_at, seen_hour = excluded.seen_hour
    where r.seen_at < excluded.seen_at
""")
# A visit that is written at the moment is no old one.
_FORGET: Final = Statement("""
with old as (
    select member_id, region from member_region where seen_hour < :before and seen_at < :before
    order by seen_hour limit :most for update skip locked
), gone as (
    delete from member_region r using old where (r.member_id, r.region) = (old.member_id, old.region) returning 1
)
select count(*) from gone
""")


async def visits_of(connection: Connection, members: Collection[str]) -> list[Visit]:
    return [row_of(Visit, row) for row in await connection.fetch(*_OF_MEMBERS(members=column(members)))]


async def keep_visits(connection: Connection, visits: Sequence[Visit]) -> None:
    await connection.execute(*_KEEP(**arrays(Visit, visits)))


async def forget_visits(connection: Connection, before: datetime, most: int) -> int:
    """Returns how many there were, at most so many."""
    count: int = await connection.fetchval(*_FORGET(before=before, most=most))
    return count
