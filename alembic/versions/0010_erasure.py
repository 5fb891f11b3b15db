"""Erasure: the record of it, and the one way by which a member's name is taken out of the ledger."""

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

TABLE = """
create table erasure (
    pseudonym text collate "C" constraint erasure_pkey primary key,
    erased_at timestamptz not null,
    erased_by text not null,
    reason text not null,
    accounts json not null,
    rows json not null
)
"""

# As it was, but for the tables whose trigger says that names may change: there an owner of the table gets through while
# the transaction says whom it erases. Which names may become what, the next function sees to, row by row.
REFUSE_CHANGE = """
create or replace function abacus_refuse_change() returns trigger language plpgsql as $$
begin
    if tg_op = 'UPDATE' and tg_nargs = 1 and tg_argv[0] = 'but for erasure'
        and coalesce(current_setting('abacus.erasing', true), '') <> ''
        and (select pg_has_role(current_user, relowner, 'usage') from pg_class where oid = tg_relid)
    then
        return null;
    end if;
    raise exception '% is append-only: % refused', tg_table_name, tg_op using errcode = 'restrict_violation';
end $$
"""

RENAME_ONLY = """
create function abacus_rename_only() returns trigger language plpgsql as $$
declare
    kept record;
begin
    kept := new;
    kept.member_id := old.member_id;
    if tg_table_name in ('claim', 'transfer') then
        if old.key ~ '^(import|expiry):' then
            kept.key := old.key;
        end if;
    end if;
    if tg_table_name = 'transfer' then
        kept.reverses := old.reverses;
        kept.explanation := old.explanation;
        kept.hash := old.hash;
    end if;
    if old.member_id is distinct from current_setting('abacus.erasing', true)
        or new.member_id !~ '^erased-[0-9a-f]{32}$' or kept *<> old
    then
        raise exception '% is append-only: more than a name would change', tg_table_name
            using errcode = 'restrict_violation';
    end if;
    return new;
end $$
"""

REFUSE_CHANGE_BEFORE = """
create or replace function abacus_refuse_change() returns trigger language plpgsql as $$
begin
    raise exception '% is append-only: % refused', tg_table_name, tg_op using errcode = 'restrict_violation';
end $$
"""

ERASABLE = ("claim", "transfer", "rejection", "draw")


def guarded(table: str, exception: str = "") -> str:
    return (
        f"create trigger {table}_is_append_only before update or delete or truncate on {table}"
        f" for each statement execute function abacus_refuse_change({exception})"
    )


def upgrade() -> None:
    op.execute(TABLE)
    op.execute(REFUSE_CHANGE)
    op.execute(RENAME_ONLY)
    op.execute(guarded("erasure"))
    for table in ERASABLE:
        op.execute(f"drop trigger {table}_is_append_only on {table}")
        op.execute(guarded(table, "'but for erasure'"))
        op.execute(
            f"create trigger {table}_changes_in_name_only before update on {table}"
            " for each row execute function abacus_rename_only()"
        )
    op.execute("grant select on erasure to abacus_app")


def downgrade() -> None:
    for table in ERASABLE:
        op.execute(f"drop trigger {table}_changes_in_name_only on {table}")
        op.execute(f"drop trigger {table}_is_append_only on {table}")
        op.execute(guarded(table))
    op.execute("drop table erasure")
    op.execute("drop function abacus_rename_only()")
    op.execute(REFUSE_CHANGE_BEFORE)
