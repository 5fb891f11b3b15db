"""The plan by which Citus spreads the tables: it has a place for each, and the schema keeps Citus' rules for it.

Citus itself is not here. Stand-ins for its functions refuse what Citus refuses, after its documentation and source.
"""

from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import asyncpg
import pytest

from abacus.core.errors import Refused
from abacus.platform.distribution import PLAN, Spread, Whole, statements
from abacus.platform.migrations import distribute
from abacus.platform.postgres import Connection, Pool
from tests.support.slices import SLICES

SPREAD = {table: place for table, place in PLAN.items() if isinstance(place, Spread)}

STAND_INS = """
create schema citus;
create table citus.pg_dist_partition (logicalrelid regclass primary key, partkey text, beside regclass);

create function citus.take(named regclass) returns void language plpgsql as $$
begin
    if exists (select from pg_dist_partition where logicalrelid = named) then
        raise exception 'table "%" is already distributed', named using errcode = 'invalid_table_definition';
    end if;
    if coalesce(current_setting('citus.enable_unsafe_triggers', true), 'off') <> 'on'
        and exists (select from pg_trigger where tgrelid = named and not tgisinternal)
    then
        raise exception 'cannot distribute relation "%" because it has triggers', named
            using errcode = 'feature_not_supported';
    end if;
    if exists (select from pg_attribute where attrelid = named and (attidentity <> '' or attgenerated <> '')) then
        raise exception 'cannot distribute relation: %', named using errcode = 'feature_not_supported',
            detail = 'Distributed relations must not use GENERATED ... AS IDENTITY.';
    end if;
    if exists (select from pg_constraint where contype = 'f' and named in (conrelid, confrelid)) then
        raise exception 'cannot create foreign key constraint' using errcode = 'feature_not_supported';
    end if;
end $$;

create function citus.create_reference_table(table_name regclass) returns void language plpgsql as $$
begin
    perform take(table_name);
    insert into pg_dist_partition values (table_name);
end $$;

create function citus.create_distributed_table(
    table_name regclass, distribution_column text, distribution_type text default 'hash',
    colocate_with text default 'default'
) returns void language plpgsql as $$
declare
    cut record;
    other record;
begin
    perform take(table_name);
    select attnum, atttypid, attcollation, attnotnull into strict cut from pg_attribute
    where attrelid = table_name and attname = distribution_column and not attisdropped;
    if not exists (
        select from pg_opclass c join pg_am m on m.oid = c.opcmethod
        where m.amname = 'hash' and c.opcdefault and c.opcintype = cut.atttypid
    ) then
        raise exception 'could not identify a hash function for type %', cut.atttypid::regtype
            using errcode = 'feature_not_supported';
    end if;
    if exists (select from pg_collation where oid = cut.attcollation and not collisdeterministic) then
        raise exception 'Hash distributed partition columns may not use a non deterministic collation'
            using errcode = 'feature_not_supported';
    end if;
    if exists (
        select from pg_index where indrelid = table_name and (indisunique or indisexclusion)
            and not cut.attnum = any(indkey::int2[])
    ) then
        raise exception 'cannot create constraint on "%"', table_name using errcode = 'feature_not_supported',
            detail = 'Distributed relations cannot have UNIQUE, EXCLUDE, or PRIMARY KEY constraints that do not'
            ' include the partition column (with an equality operator if EXCLUDE).';
    end if;
    if colocate_with not in ('default', 'none') then
        select a.atttypid, a.attcollation into strict other from pg_dist_partition p
        join pg_attribute a on a.attrelid = p.logicalrelid and a.attname = p.partkey
        where p.logicalrelid = colocate_with::regclass;
        if (other.atttypid, other.attcollation) <> (cut.atttypid, cut.attcollation) then
            raise exception 'cannot colocate tables % and %', colocate_with, table_name
                using errcode = 'feature_not_supported';
        end if;
    end if;
    insert into pg_dist_partition
    values (table_name, distribution_column, nullif(nullif(colocate_with, 'none'), 'default')::regclass);
end $$;
"""


pytestmark = pytest.mark.skipif(SLICES > 1, reason="a ledger in slices is not spread by this plan")


@pytest.fixture
async def owner(database_url: str) -> AsyncIterator[Connection]:
    """A database with the stand-ins."""
    opened = await asyncpg.connect(database_url)
    await opened.execute(STAND_INS)
    await opened.execute(f"alter database {urlsplit(database_url).path[1:]} set search_path = public, citus")
    await opened.execute("set search_path = public, citus")
    yield opened
    await opened.close()


async def test_every_table_has_its_place_in_the_plan(pool: Pool) -> None:
    rows = await pool.fetch("select tablename from pg_tables where schemaname = 'public'")
    assert {row["tablename"] for row in rows} == PLAN.keys()


async def test_whatever_names_a_member_is_spread(pool: Pool) -> None:
    """A row that does not lie beside its member lies by a key. The relay's cursor is a place, not a member's row."""
    rows = await pool.fetch(
        "select table_name from information_schema.columns where table_schema = 'public' and column_name = 'member_id'"
    )
    assert {row["table_name"] for row in rows} - SPREAD.keys() == {"relay_cursor"}


async def test_unique_keys_begin_with_the_column_that_spreads_the_table(pool: Pool) -> None:
    rows = await pool.fetch(
        "select i.indrelid::regclass::text as table, i.indexrelid::regclass::text as key, a.attname as first"
        " from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]"
        " where i.indisunique and i.indrelid::regclass::text = any($1::text[])",
        list(SPREAD),
    )
    assert {row["table"] for row in rows} == SPREAD.keys()
    assert [row["key"] for row in rows if row["first"] != SPREAD[row["table"]].by] == []


async def test_no_foreign_key_crosses_servers_and_no_sequence_is_shared(pool: Pool) -> None:
    assert await pool.fetchval("select count(*) from pg_constraint where contype = 'f'") == 0
    assert await pool.fetchval("select count(*) from pg_class where relkind = 'S'") == 0


async def test_only_transaction_ids_are_filled_in_by_the_server(pool: Pool) -> None:
    """The order on one server hangs on these two: docs/adr/0026. Another such default has to be thought through."""
    rows = await pool.fetch(
        "select d.adrelid::regclass::text || '.' || a.attname from pg_attrdef d"
        " join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum"
        " where pg_get_expr(d.adbin, d.adrelid) like '%(%'"
    )
    assert {row[0] for row in rows} == {"transfer.xid", "rejection.xid"}


async def test_the_command_s_work_is_the_plan(owner: Connection, database_url: str) -> None:
    done = await distribute(database_url)
    assert done[0] == "account"
    assert set(done) == {table for table, place in PLAN.items() if place is not Whole.AT_HOME}
    rows = await owner.fetch("select logicalrelid::text, partkey, beside::text from pg_dist_partition")
    assert {row[0]: Spread(row[1], row[2]) if row[1] else Whole.EVERYWHERE for row in rows} == {
        table: place for table, place in PLAN.items() if place is not Whole.AT_HOME
    }


async def test_a_run_that_was_cut_off_goes_on(owner: Connection, database_url: str) -> None:
    await owner.execute("set citus.enable_unsafe_triggers = on")
    first, *rest = statements(PLAN)
    await owner.execute(first[1])
    assert await distribute(database_url) == [table for table, _ in rest]
    assert await distribute(database_url) == []


async def test_without_citus_it_is_refused(database_url: str) -> None:
    with pytest.raises(Refused, match="has no Citus; run `create extension citus`"):
        await distribute(database_url)


async def test_a_ledger_in_use_is_refused(owner: Connection, pool: Pool, database_url: str) -> None:
    await pool.execute("insert into account (member_id, program, country) values ('bob', 'GRP', 'SG')")
    with pytest.raises(Refused, match="this ledger has accounts"):
        await distribute(database_url)
    assert await owner.fetchval("select count(*) from pg_dist_partition") == 0


@pytest.mark.parametrize(
    ("change", "table"),
    [
        ("create unique index on transfer (key)", "transfer"),
        ("alter table hold drop constraint hold_pkey, add primary key (hold_id)", "hold"),
        ("alter table draw add column number bigint generated always as identity", "draw"),
        ("alter table membership add foreign key (member_id, program) references account", "account"),
        ("alter table tier_tally alter column member_id type uuid using null", "tier_tally"),
        ('alter table notice alter column member_id type text collate "default"', "notice"),
    ],
)
async def test_a_schema_that_citus_would_not_take_is_refused_with_its_table(
    owner: Connection, database_url: str, change: str, table: str
) -> None:
    """The stand-ins refuse each breach, also of rules that our schema keeps."""
    await owner.execute(change)
    with pytest.raises(Refused, match=rf"Citus does not take the table {table}: "):
        await distribute(database_url)


async def test_triggers_need_the_switch(owner: Connection) -> None:
    await owner.execute("select create_distributed_table('account', 'member_id', colocate_with => 'none')")
    with pytest.raises(asyncpg.FeatureNotSupportedError, match="because it has triggers"):
        await owner.execute("select create_distributed_table('transfer', 'member_id', colocate_with => 'account')")
