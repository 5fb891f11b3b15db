"""Rows of counters, in partitions by time that the application makes and drops through two functions."""

from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

STATEMENTS = (
    """
    create table counter_row (
        key text collate "C" not null,
        slot integer not null,
        writer bigint not null,
        count bigint not null,
        upto bigint not null,
        constraint counter_row_pkey primary key (key, slot, writer)
    ) partition by range (slot)
    """,
    """
    create table counter_partition (
        first integer not null,
        "next" integer not null,
        until bigint not null,
        constraint counter_partition_pkey primary key (first)
    )
    """,
    "grant select, insert, update (count, upto) on counter_row to abacus_app",
    "grant select on counter_partition to abacus_app",
)

# The application owns no table. These run with the rights of the owner, in the schema that the migration runs in, so
# each looks at its arguments first. A partition is attached, because that lets others read and write meanwhile.
FUNCTIONS = """
do $make$
begin
    execute format($create$
        create function counter_partition_keep(first_slot integer, next_slot integer, until_second bigint) returns void
            language plpgsql security definer set search_path = %1$I, pg_temp set lock_timeout = '5s' as $body$
        begin
            if first_slot < 0 or next_slot <= first_slot or next_slot - first_slot > 366 * 96
                or (next_slot - 1) >> 28 <> first_slot >> 28 or until_second < 0
            then
                raise exception 'no partition of counters: %% to %%', first_slot, next_slot
                    using errcode = 'invalid_parameter_value';
            end if;
            lock table counter_partition in share row exclusive mode;
            update counter_partition p set until = greatest(p.until, until_second)
                where p.first = first_slot and p.next = next_slot;
            if found then
                return;
            end if;
            execute format('create table %%I (like counter_row including all) with (fillfactor = 80)',
                'counter_row_' || first_slot);
            execute format('alter table counter_row attach partition %%I for values from (%%s) to (%%s)',
                'counter_row_' || first_slot, first_slot, next_slot);
            insert into counter_partition values (first_slot, next_slot, until_second);
        end
        $body$
    $create$, current_schema());
    execute format($create$
        create function counter_partition_drop(first_slot integer, now_second bigint) returns boolean
            language plpgsql security definer set search_path = %1$I, pg_temp set lock_timeout = '2s' as $body$
        begin
            lock table counter_partition in share row exclusive mode;
            delete from counter_partition p
                where p.first = first_slot and p.until <= least(now_second, extract(epoch from clock_timestamp()));
            if not found then
                return false;
            end if;
            execute format('drop table %%I', 'counter_row_' || first_slot);
            return true;
        end
        $body$
    $create$, current_schema());
end
$make$
"""

RIGHTS = (
    "revoke all on function counter_partition_keep(integer, integer, bigint) from public",
    "revoke all on function counter_partition_drop(integer, bigint) from public",
    "grant execute on function counter_partition_keep(integer, integer, bigint) to abacus_app",
    "grant execute on function counter_partition_drop(integer, bigint) to abacus_app",
)


def upgrade() -> None:
    for statement in (*STATEMENTS, FUNCTIONS, *RIGHTS):
        op.execute(statement)


def downgrade() -> None:
    op.execute("drop function counter_partition_drop(integer, bigint)")
    op.execute("drop function counter_partition_keep(integer, integer, bigint)")
    op.execute("drop table counter_partition")
    op.execute("drop table counter_row")
