"""A ledger in slices as tests see it: what they write by hand to a view goes to the slice of the row's member.

The house itself cannot write to these views. Tests run with one slice and with several, and change rows in both.
"""

import os
from itertools import chain
from typing import Final

import asyncpg

from abacus.platform.postgres import Connection, Pool
from abacus.platform.slices import SliceMap, slice_of
from abacus.platform.slices.layout import CUT, OF_A_SLICE

SLICES: Final = int(os.environ.get("ABACUS_TEST_SLICES", "1"))

# The settings of a session that has the tables of one slice under their names.
IN_A_SLICE: Final = {"search_path": "slice_0, public"} if SLICES > 1 else {}


def of_parts(change: str) -> str:
    """A change of all rows of `allowance`, made to what the slices have of them."""
    if SLICES == 1:
        return change
    named = "update allowance set"
    assert change.startswith(named)
    return "; ".join(
        change.replace(named, f"update {schema}.allowance_part set") for schema in SliceMap(SLICES).schemas
    )


_COLUMNS: Final = """
select quote_ident(a.attname) as name, pg_get_expr(d.adbin, d.adrelid) as default,
    exists (
        select from pg_index i join pg_attribute k on k.attrelid = i.indrelid and k.attnum = any(i.indkey)
        where i.indrelid = coalesce(to_regclass($1 || '_1'), $1::text::regclass) and i.indisprimary
            and k.attname = a.attname
    ) as is_key
from pg_attribute a
left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
where a.attrelid = $1::text::regclass and a.attnum > 0 and not a.attisdropped
order by a.attnum
"""

# Rows go as JSON, whose texts stay as they are: other servers do not know the type of a row of the view.
_ROUTED: Final = """
create function watched_by_tests.write_{table}() returns trigger language plpgsql as $$
declare
    member text := case tg_op when 'INSERT' then new.member_id else old.member_id end;
    home text := 'slice_' || abacus_slice_of(member, {slices});
    changed text;  -- those columns alone: whoever writes may have no right to others
begin
    if current_setting('session_replication_role') = 'replica' then
        execute 'do $in_a_block$ begin
            set local citus.propagate_set_commands = local;
            set local session_replication_role = replica;
        end $in_a_block$';
    end if;
    if tg_op = 'INSERT' then
        execute format('insert into %1$s.{table} select * from json_populate_record(null::%1$s.{table}, $1)', home)
            using to_json(new);
        return new;
    elsif tg_op = 'UPDATE' then
        changed := (
            select string_agg(quote_ident(o.key), ', ') from json_each_text(to_json(old)) o
            join json_each_text(to_json(new)) n using (key) where o.value is distinct from n.value
        );
        execute format('with o as (select * from json_populate_record(null::%1$s.{table}, $1)),
                n as (select * from json_populate_record(null::%1$s.{table}, $2))
            update %1$s.{table} t set (%2$s) = (select %2$s from n) from o where {where}',
                home, coalesce(changed, '{names}'))
            using to_json(old), to_json(new);
        return new;
    end if;
    execute format('with o as (select * from json_populate_record(null::%1$s.{table}, $1))
        delete from %1$s.{table} t using o where {where}', home) using to_json(old);
    return old;
end $$;
create trigger written_by_tests instead of insert or update or delete on {table}
    for each row execute function watched_by_tests.write_{table}();
grant insert, update, delete on {table} to abacus_app;
"""

# A cursor is the same in each slice.
_CURSORS: Final = """
create function watched_by_tests.write_relay_cursor() returns trigger language plpgsql security definer as $$
begin
    for number in 0..{last} loop
        if tg_op <> 'INSERT' then
            execute format('delete from slice_%s.relay_cursor where topic = $1', number) using old.topic;
        end if;
        if tg_op <> 'DELETE' then
            execute format('insert into slice_%1$s.relay_cursor
                    select * from json_populate_record(null::slice_%1$s.relay_cursor, $1) on conflict do nothing',
                number) using to_json(new);
        end if;
    end loop;
    return coalesce(new, old);
end $$;
create trigger written_by_tests instead of insert or update or delete on relay_cursor
    for each row execute function watched_by_tests.write_relay_cursor();
grant insert, update, delete on relay_cursor to abacus_app;
"""

# A sum of a campaign is of no member: a new one goes to the first slice that has none such, and a row that is changed
# is looked for by what it was, because several slices may have its key.
_SUMS: Final = """
create function watched_by_tests.write_campaign_sum() returns trigger language plpgsql as $$
declare
    is_here boolean;
    sum record := case tg_op when 'INSERT' then new else old end;
begin
    for number in 0..{last} loop
        execute format('select exists (select from slice_%s.campaign_sum
                where (campaign, version, day, variant, outcome, slot) = ($1, $2, $3, $4, $5, $6)
                    and ($7 or (events, points, cost) = ($8, $9, $10)))', number)
            using sum.campaign, sum.version, sum.day, sum.variant, sum.outcome, sum.slot, tg_op = 'INSERT',
                sum.events, sum.points, sum.cost
            into is_here;
        continue when is_here = (tg_op = 'INSERT');
        if tg_op <> 'INSERT' then
            execute format('delete from slice_%s.campaign_sum
                    where (campaign, version, day, variant, outcome, slot) = ($1, $2, $3, $4, $5, $6)', number)
                using old.campaign, old.version, old.day, old.variant, old.outcome, old.slot;
        end if;
        if tg_op <> 'DELETE' then
            execute format('insert into slice_%1$s.campaign_sum
                    select * from json_populate_record(null::slice_%1$s.campaign_sum, $1)', number)
                using to_json(new);
        end if;
        exit;
    end loop;
    return sum;
end $$;
create trigger written_by_tests instead of insert or update or delete on campaign_sum
    for each row execute function watched_by_tests.write_campaign_sum();
grant insert, update, delete on campaign_sum to abacus_app;
"""

# Citus cannot change a view of its tables, not even where a trigger does it instead. It does not look into functions.
_HAS_CITUS: Final = "select exists(select from pg_extension where extname = 'citus')"
_TYPED: Final = """
select string_agg(quote_ident(attname) || ' ' || format_type(atttypid, atttypmod), ', ' order by attnum) as columns,
    string_agg(quote_ident(attname) || case collname when 'C' then ' collate "C"' else '' end, ', ' order by attnum)
from pg_attribute left join pg_collation c on c.oid = attcollation
where attrelid = $1::text::regclass and attnum > 0 and not attisdropped
"""
_BEHIND_A_FUNCTION: Final = """
create function watched_by_tests.all_{table}() returns table ({columns}) language plpgsql as $$
#variable_conflict use_column
begin
    return query {rows};
end $$;
create or replace view {table} as select {names} from watched_by_tests.all_{table}();
"""

_LIKE: Final = """
select c.relname, c.reloptions, pg_get_partkeydef(c.oid),
    array(select pg_get_indexdef(i.indexrelid) from pg_index i where i.indrelid = c.oid order by 1),
    array(select pg_get_triggerdef(t.oid) from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal order by 1),
    array(select (a.attname, a.atttypid, a.attcollation, a.attnotnull, pg_get_expr(d.adbin, d.adrelid))::text
        from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped order by a.attname),
    array(select (a.attname, x.grantee::regrole, x.privilege_type)::text from pg_attribute a, aclexplode(a.attacl) x
        where a.attrelid = c.oid and not a.attisdropped order by 1),
    array(select (x.grantee::regrole, x.privilege_type)::text from aclexplode(c.relacl) x
        where x.grantee = 'abacus_app'::regrole order by 1)
from pg_class c
where c.relnamespace = $1::text::regnamespace and c.relkind in ('r', 'p') and not c.relispartition order by 1
"""

# In sessions without triggers too: there they reach tables whose own triggers are switched off.
_ALWAYS: Final = """
update pg_trigger set tgenabled = 'A' where tgname = 'written_by_tests';
grant usage on schema watched_by_tests to abacus_app;
"""


async def let_tests_write(connection: asyncpg.Connection) -> None:
    if SLICES == 1:
        return
    if await connection.fetchval(_HAS_CITUS):
        await connection.execute("set citus.enable_ddl_propagation = off")  # other servers have no such views
        for table in (*CUT, *OF_A_SLICE):
            columns, names = await connection.fetchrow(_TYPED, f"slice_0.{table}")
            rows = " union all ".join(f"select * from {schema}.{table}" for schema in SliceMap(SLICES).schemas)
            await connection.execute(_BEHIND_A_FUNCTION.format(table=table, columns=columns, names=names, rows=rows))
    for table in CUT:
        columns = await connection.fetch(_COLUMNS, f"slice_0.{table}")
        names = ", ".join(column["name"] for column in columns)
        where = " and ".join(f"t.{each['name']} = o.{each['name']}" for each in columns if each["is_key"])
        await connection.execute(_ROUTED.format(table=table, slices=SLICES, names=names, where=where))
        for column in columns:
            if column["default"]:
                await connection.execute(
                    f"alter view {table} alter column {column['name']} set default {column['default']}"
                )
    for written in (_CURSORS, _SUMS):
        await connection.execute(written.format(last=SLICES - 1))
    await connection.execute(_ALWAYS)


def tables_of(*names: str) -> str:
    """The tables of these names, for `truncate`: those that are cut in each slice."""
    cut = {*CUT, *OF_A_SLICE}
    each = ((f"{schema}.{name}" for schema in SliceMap(SLICES).schemas) if name in cut else (name,) for name in names)
    return ", ".join(chain.from_iterable(each))


async def tables_like(connection: asyncpg.Connection, number: int) -> list[list[str]]:
    """All that tells the tables of a slice from others, without what tells one slice from the next."""
    schema = f"slice_{number}"
    text = [str(tuple(row)) for row in await connection.fetch(_LIKE, schema)]
    return [
        sorted(each)
        for each in sorted(each.replace(schema, "slice").replace(f"<> {number})", "<> n)") for each in text)
    ]


async def home_of(pool: Pool, member_id: str) -> str | None:
    """Where the member's rows are written: the argument `schema` of a pool's `acquire`."""
    return (await slice_of(pool, member_id)).schema


def home_on_paper(member_id: str) -> str | None:
    """The same, without asking the database."""
    slice_map = SliceMap(SLICES)
    return slice_map.schema_of(slice_map.slice_of(member_id))


async def led_home(connection: Connection, member_id: str) -> None:
    """Leads the session to the member's slice."""
    if SLICES > 1:
        await connection.execute(f"set search_path = {home_on_paper(member_id)}, public")


def neighbour(name: str) -> str:
    """A member of that name whose rows lie with bob's, for tests of one transaction with several members."""
    slice_map = SliceMap(SLICES)
    names = chain((name,), (f"{name}{number}" for number in range(1000)))
    return next(each for each in names if slice_map.slice_of(each) == slice_map.slice_of("bob"))
