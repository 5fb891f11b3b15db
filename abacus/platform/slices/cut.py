"""Cutting a ledger into slices: a schema for each with the tables that are cut, and views over all of them in `public`.

The migrations made the tables. They become those of the first slice, and the tables of the others are made like them.
"""

from collections.abc import Sequence
from typing import Final

from abacus.core.errors import Refused
from abacus.platform.postgres import Connection
from abacus.platform.roles import APPLICATION_ROLE
from abacus.platform.slices.layout import BEGUN, CUT, GUARDED, HEAD, OF_A_SLICE, WHOLE, SliceMap
from abacus.platform.sql import Statement

_SLICES: Final = "select count(*) from slice"
_ENTER: Final = Statement("insert into slice select generate_series(0, :count - 1)")

# The right to update it is the right to lock it. Nobody changes it: a row that each transaction rewrites would grow a
# tail of old versions while somebody reads for hours.
_HEAD: Final = """
create table {table} (one boolean primary key default true check (one));
insert into {table} default values;
grant select, update on {table} to {role};
"""

# Of a part, triggers on rows come with it.
_TRIGGERS: Final = Statement("""
select pg_get_triggerdef(oid) as made from pg_trigger
where tgrelid = :name::text::regclass and not tgisinternal and tgparentid = 0
""")
_PARTS: Final = Statement("""
select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bounds
from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = :name::text::regclass order by c.relname
""")
_DIVIDED: Final = Statement("select ' partition by ' || pg_get_partkeydef(:name::text::regclass)")
_OPTIONS: Final = Statement("select unnest(reloptions) as option from pg_class where oid = :name::text::regclass")
_RIGHTS: Final = Statement("""
select privilege_type as may, null as only from pg_class, aclexplode(relacl)
where oid = :name::text::regclass and grantee = :role::text::regrole
union all
select privilege_type, quote_ident(attname) from pg_attribute, aclexplode(attacl)
where attrelid = :name::text::regclass and grantee = :role::text::regrole
""")


async def cut(connection: Connection, count: int) -> bool:
    """Whether the ledger was cut now; False where it has `count` slices already. In a transaction of the tables' owner.

    Raises `Refused` for a ledger that has other slices, or somebody's points.
    """
    tables = (*CUT, *OF_A_SLICE)
    await connection.execute("lock table slice in exclusive mode")  # who cuts at the same time waits, and sees it done
    slice_map, before = SliceMap(count), await connection.fetchval(_SLICES) or 1
    if before == count:
        return False
    if before > 1:
        raise Refused(f"this ledger is cut into {before} slices, and their number never changes")
    await connection.execute(f"lock table {', '.join(tables)} in access exclusive mode")
    for table in (table for table in tables if table not in BEGUN):
        if await connection.fetchval(f"select exists(select from {table})"):
            raise Refused(f"the table {table} has rows; only an empty ledger can be cut (docs/operate/slices.md)")
    first, *others = slice_map.schemas
    for schema in slice_map.schemas:
        await connection.execute(f"create schema {schema}; grant usage on schema {schema} to {APPLICATION_ROLE}")
        await connection.execute(_HEAD.format(table=f"{schema}.{HEAD}", role=APPLICATION_ROLE))
    for table in tables:
        await _spread(connection, table, first, others)
        parts = (f"select * from {schema}.{table}" for schema in slice_map.schemas)
        await connection.execute(f"create view {WHOLE}.{table} as {' union all '.join(parts)}")
        await connection.execute(f"grant select on {WHOLE}.{table} to {APPLICATION_ROLE}")
    for number, schema in enumerate(slice_map.schemas):
        for table in GUARDED:
            await connection.execute(
                f"create trigger {table}_is_of_this_slice before insert or update of member_id on {schema}.{table}"
                f" for each row when (abacus_slice_of(new.member_id, {count}) <> {number})"
                " execute function abacus_refuse_stranger()"
            )
    await connection.execute(*_ENTER(count=count))
    return True


async def _spread(connection: Connection, table: str, first: str, others: Sequence[str]) -> None:
    """The table, with its parts, becomes that of the first slice, and the others have tables like it."""
    parts = await connection.fetch(*_PARTS(name=f"{WHOLE}.{table}"))
    for name in (table, *(part["name"] for part in parts)):
        await connection.execute(f"alter table {WHOLE}.{name} set schema {first}")
    for schema in others:
        await _make_like(connection, f"{first}.{table}", f"{schema}.{table}")
        for name, bounds in parts:
            await _make_like(connection, f"{first}.{name}", f"{schema}.{name}")
            await connection.execute(f"alter table {schema}.{table} attach partition {schema}.{name} {bounds}")
        if table in BEGUN:
            await connection.execute(f"insert into {schema}.{table} select * from {first}.{table}")


async def _make_like(connection: Connection, first: str, name: str) -> None:
    """The table with the same columns, indexes, options, triggers and rights. One by parts has none of them yet."""
    options = ", ".join([row["option"] for row in await connection.fetch(*_OPTIONS(name=first))])
    with_ = f" with ({options})" if options else ""
    divided = await connection.fetchval(*_DIVIDED(name=first)) or ""
    await connection.execute(f"create table {name} (like {first} including all){divided}{with_}")
    for row in await connection.fetch(*_TRIGGERS(name=first)):
        await connection.execute(row["made"].replace(f" ON {first} ", f" ON {name} "))
    for may, only in await connection.fetch(*_RIGHTS(name=first, role=APPLICATION_ROLE)):
        await connection.execute(f"grant {may}{f' ({only})' if only else ''} on {name} to {APPLICATION_ROLE}")
