"""Rows of counters lie in the slice of their key: in a ledger that is cut already, in partitions of each slice."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from abacus.platform.slices.migration_steps import hold, let_go

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None

# As in 0025, for the tables of this schema or of a slice. The servers of slices take the limit for locks over when they
# are told so in a block. What is compared with the clock is compared here: no server of a slice has to agree on it.
FUNCTIONS = """
do $make$
begin
    execute format($create$
        create function counter_partitions_home(of_slice integer, waits text) returns text
            language plpgsql set search_path = %1$I, pg_temp as $body$
        declare
            home text := coalesce('slice_' || of_slice, %1$L);
        begin
            if of_slice is not null and not exists (select from slice where number = of_slice) then
                raise exception 'no slice of this ledger: %%', of_slice using errcode = 'invalid_parameter_value';
            end if;
            execute format('do $in_a_block$ begin
                set local citus.propagate_set_commands = local;
                set local lock_timeout = %%L;
            end $in_a_block$', waits);
            perform pg_advisory_xact_lock(hashtext('counter partitions'), hashtext(home));
            return home;
        end
        $body$
    $create$, current_schema());
    execute format($create$
        create function counter_partition_keep(
            first_slot integer, next_slot integer, until_second bigint, of_slice integer default null
        ) returns void
            language plpgsql security definer set search_path = %1$I, pg_temp as $body$
        declare
            home text;
            is_there boolean;
        begin
            if first_slot < 0 or next_slot <= first_slot or next_slot - first_slot > 366 * 96
                or (next_slot - 1) >> 28 <> first_slot >> 28 or until_second < 0
            then
                raise exception 'no partition of counters: %% to %%', first_slot, next_slot
                    using errcode = 'invalid_parameter_value';
            end if;
            home := counter_partitions_home(of_slice, '5s');
            execute format('update %%I.counter_partition p set until = greatest(p.until, $3)
                where p.first = $1 and p.next = $2 returning true', home)
                into is_there using first_slot, next_slot, until_second;
            if is_there then
                return;
            end if;
            execute format('create table %%1$I.%%2$I (like %%1$I.counter_row including all) with (fillfactor = 80)',
                home, 'counter_row_' || first_slot);
            execute format('alter table %%1$I.counter_row attach partition %%1$I.%%2$I
                for values from (%%3$s) to (%%4$s)', home, 'counter_row_' || first_slot, first_slot, next_slot);
            execute format('insert into %%I.counter_partition values ($1, $2, $3)', home)
                using first_slot, next_slot, until_second;
        end
        $body$
    $create$, current_schema());
    execute format($create$
        create function counter_partition_drop(
            first_slot integer, now_second bigint, of_slice integer default null
        ) returns boolean
            language plpgsql security definer set search_path = %1$I, pg_temp as $body$
        declare
            home text := counter_partitions_home(of_slice, '2s');
            is_over boolean;
        begin
            execute format('delete from %%I.counter_partition p
                where p.first = $1 and p.until <= $2 returning true', home)
                into is_over using first_slot, least(now_second, floor(extract(epoch from clock_timestamp()))::bigint);
            if is_over is null then
                return false;
            end if;
            execute format('drop table %%I.%%I', home, 'counter_row_' || first_slot);
            return true;
        end
        $body$
    $create$, current_schema());
end
$make$
"""

RIGHTS = (
    "revoke all on function counter_partitions_home(integer, text) from public",
    "revoke all on function counter_partition_keep(integer, integer, bigint, integer) from public",
    "revoke all on function counter_partition_drop(integer, bigint, integer) from public",
    "grant execute on function counter_partition_keep(integer, integer, bigint, integer) to abacus_app",
    "grant execute on function counter_partition_drop(integer, bigint, integer) to abacus_app",
)

KEEP = sa.text("select counter_partition_keep(:first, :next, :until, :of_slice)")


def _slices() -> Sequence[str]:
    count = op.get_bind().scalar(sa.text("select count(*) from slice"))
    return [f"slice_{number}" for number in range(count or 0)]


def _rows(table: str, slices: Sequence[str]) -> str:
    return " union all ".join(f"select * from {schema}.{table}" for schema in slices)


def _make_like(given: str, schema: str) -> None:
    op.execute(f"create table {schema}.counter_row (like {given}.counter_row including all) partition by range (slot)")
    op.execute(f"create table {schema}.counter_partition (like {given}.counter_partition including all)")
    op.execute(f"grant select, insert, update (count, upto) on {schema}.counter_row to abacus_app")
    op.execute(f"grant select on {schema}.counter_partition to abacus_app")


def _keep(partitions: Sequence[sa.Row[tuple[int, int, int]]], of_slice: int | None) -> None:
    for first, end, until in partitions:
        op.get_bind().execute(KEEP, {"first": first, "next": end, "until": until, "of_slice": of_slice})
    op.execute("set local lock_timeout = 0")


def _lock(schemas: Sequence[str]) -> None:
    """Nobody counts beside the copying: what he added would be lost."""
    tables = (f"{schema}.{table}" for schema in schemas for table in ("counter_row", "counter_partition"))
    op.execute(f"lock table {', '.join(tables)} in access exclusive mode")


def _partitions(rows: str) -> Sequence[sa.Row[tuple[int, int, int]]]:
    each = sa.text(f"select first, next, max(until) from ({rows}) p group by first, next order by first")
    return op.get_bind().execute(each).fetchall()


def _make_functions() -> None:
    if op.get_bind().scalar(sa.text("select to_regproc('counter_partitions_home') is not null")):
        return
    op.execute("drop function counter_partition_keep(integer, integer, bigint)")
    op.execute("drop function counter_partition_drop(integer, bigint)")
    for statement in (FUNCTIONS, *RIGHTS):
        op.execute(statement)


def before(_slices: int) -> None:
    _make_functions()
    hold("counter_row")
    hold("counter_partition")


def in_slice(number: int, slices: int) -> None:
    schema = f"slice_{number}"
    _make_like("public", schema)
    _keep(_partitions("select * from public.counter_partition"), number)
    op.execute(
        f"insert into {schema}.counter_row select * from public.counter_row"
        f" where abacus_slice_of(key, {slices}) = {number}"
    )


def upgrade() -> None:
    _make_functions()
    slices = _slices()
    if not slices:
        return
    let_go()
    op.execute("drop table public.counter_row, public.counter_partition")
    for table in ("counter_row", "counter_partition"):
        op.execute(f"create view public.{table} as {_rows(table, slices)}")
        op.execute(f"grant select on public.{table} to abacus_app")


def downgrade() -> None:
    slices = _slices()
    if slices:
        _lock(slices)
        op.execute("drop view public.counter_row, public.counter_partition")
        _make_like(slices[0], "public")
        _keep(_partitions(_rows("counter_partition", slices)), None)
        op.execute(f"insert into public.counter_row {_rows('counter_row', slices)}")
        for schema in slices:
            op.execute(f"drop table {schema}.counter_row, {schema}.counter_partition")
    op.execute("drop function counter_partition_keep(integer, integer, bigint, integer)")
    op.execute("drop function counter_partition_drop(integer, bigint, integer)")
    op.execute("drop function counter_partitions_home(integer, text)")
    before = op.get_context().script.get_revision("0025").module
    for statement in (before.FUNCTIONS, *before.RIGHTS):
        op.execute(statement)
