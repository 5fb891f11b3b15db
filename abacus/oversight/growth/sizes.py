"""The bytes of tables: as they are now, over all slices and servers, and as they were noted by day."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Final

from abacus.oversight.growth.decide.forecast import LOOKS_BACK, forecast, forecast_of_last
from abacus.oversight.growth.types import DATABASE, DiskForecast, SizeOfDay, Sizes
from abacus.platform.postgres import Connection, Pool, passing_failures
from abacus.platform.sql import Statement, arrays, columns, unnested

# Tables of one name in several schemas, of slices and of the sandbox, are one; a partition is of its table.
_OF: Final = """
select coalesce(root.relname, c.relname)::text, coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
from pg_class c join pg_namespace n on n.oid = c.relnamespace
left join pg_class root on c.relispartition and root.oid = pg_partition_root(c.oid)
where c.relkind in ('r', 'm') and n.nspname not in ('pg_catalog', 'pg_toast', 'information_schema')
    and n.nspname not like 'pg\\_%' {and_own}
group by 1
"""
_HERE: Final = _OF.format(and_own="")
_DATABASE: Final = "select pg_database_size(current_database())"
# What Citus has placed on servers is asked of it, on whichever server that lies.
_HAS_CITUS: Final = "select exists(select from pg_extension where extname = 'citus')"
_NOT_PLACED: Final = _OF.format(and_own="and not relation_is_a_known_shard(c.oid)")
_PLACED: Final = """
select coalesce(root.relname, t.relname)::text, sum(c.shard_size)::bigint,
    coalesce(sum(c.shard_size) filter (where not n.is_here), 0)::bigint
from citus_shards c join pg_class t on t.oid = c.table_name
join (select nodename, nodeport, groupid = 0 as is_here from pg_dist_node) n using (nodename, nodeport)
left join pg_class root on t.relispartition and root.oid = pg_partition_root(t.oid)
group by 1
"""

_NOTE: Final = Statement(f"""
insert into size_of_day ({columns(SizeOfDay)}) select u.* from {unnested(SizeOfDay)} order by u.day, u.of_table
on conflict do nothing
""")
_SINCE: Final = Statement(f"select {columns(SizeOfDay)} from size_of_day where day >= :since order by day, of_table")
_FORGET: Final = Statement("delete from size_of_day where day < :before")


async def sizes_on(connection: Connection) -> Sizes:
    """As they are now. Nothing is locked, and no table is read."""
    has_citus = await connection.fetchval(_HAS_CITUS)
    tables = {name: int(size) for name, size in await connection.fetch(_NOT_PLACED if has_citus else _HERE)}
    database = int(await connection.fetchval(_DATABASE))
    if has_citus:
        for name, size, elsewhere in await connection.fetch(_PLACED):
            tables[name] = tables.get(name, 0) + int(size or 0)
            database += int(elsewhere)
    return Sizes(database, tables)


async def note(connection: Connection, day: date, sizes: Sizes) -> None:
    """The first who notes a day is right."""
    rows = [SizeOfDay(day, DATABASE, sizes.database), *(SizeOfDay(day, *each) for each in sizes.tables.items())]
    await connection.execute(*_NOTE(**arrays(SizeOfDay, rows)))


async def noted_since(connection: Connection, day: date) -> Sequence[SizeOfDay]:
    return [SizeOfDay(*row) for row in await connection.fetch(*_SINCE(since=day))]


async def forget(connection: Connection, before: date) -> None:
    await connection.execute(*_FORGET(before=before))


async def live_forecast(pool: Pool, now: datetime, disk: int | None) -> DiskForecast:
    """By the sizes now and those of the last days. Raises `Unavailable`."""
    today = now.astimezone(UTC).date()
    async with passing_failures(), pool.acquire() as connection:
        sizes = await sizes_on(connection)
        return forecast(sizes, await noted_since(connection, today - LOOKS_BACK), today, disk)


async def noted_forecast(pool: Pool, now: datetime, disk: int | None) -> DiskForecast | None:
    """By the sizes of the last days alone, for those who look often; None before the first. Raises `Unavailable`."""
    async with passing_failures(), pool.acquire() as connection:
        noted = await noted_since(connection, now.astimezone(UTC).date() - 2 * LOOKS_BACK)
    return forecast_of_last(noted, disk)
