"""Items that were set aside are counted beside them, and tiers that were set by hand are in the log.

The database counts, whoever writes; connections count in rows of their own, so that they do not wait for each other.
"""

from alembic import op

revision = "0050"
down_revision = "0049"
branch_labels = None
depends_on = None

STATEMENTS = (
    """
    create table quarantine_tally (
        bucket smallint not null, items bigint not null, constraint quarantine_tally_pkey primary key (bucket)
    )
    """,
    "grant select on quarantine_tally to abacus_app",
    """
    do $make$ begin execute format($create$
        create function abacus_tally_quarantine() returns trigger language plpgsql security definer
            set search_path = %I, pg_temp as $body$
        declare
            items bigint := (select count(*) from changed) * case tg_op when 'INSERT' then 1 else -1 end;
        begin
            if items <> 0 then
                insert into quarantine_tally as t (bucket, items) values (pg_backend_pid() %% 1024, items)
                on conflict (bucket) do update set items = t.items + excluded.items;
            end if;
            return null;
        end
        $body$
    $create$, current_schema()); end $make$
    """,
    "revoke execute on function abacus_tally_quarantine() from public",
    "lock table quarantine in share row exclusive mode",
    "insert into quarantine_tally (bucket, items) select 0, count(*) from quarantine",
    """
    create trigger quarantine_is_tallied after insert on quarantine referencing new table as changed
        for each statement execute function abacus_tally_quarantine()
    """,
    """
    create trigger quarantine_is_tallied_down after delete on quarantine referencing old table as changed
        for each statement execute function abacus_tally_quarantine()
    """,
    """
    insert into audit_log (entry_id, at, actor, authenticated, deed, subject, details)
    select gen_random_uuid(), now(), 'login:abacus migrate', false, 'set-tiers', 'member:' || member_id,
        json_build_object('did', 'found', 'program', program, 'tier', tier)
    from membership order by member_id, program
    """,
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    op.execute("drop trigger quarantine_is_tallied on quarantine")
    op.execute("drop trigger quarantine_is_tallied_down on quarantine")
    op.execute("drop function abacus_tally_quarantine()")
    op.execute("drop table quarantine_tally")
