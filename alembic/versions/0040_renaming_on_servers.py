"""An erasure changes names on other servers as well: there a table's own name has a number behind it."""

from alembic import op

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None

RENAME_ONLY = """
create or replace function abacus_rename_only() returns trigger language plpgsql as $$
declare
    kept record;
    of_table text := {table};
begin
    kept := new;
    kept.member_id := old.member_id;
    if of_table in ('claim', 'transfer') then
        if old.key ~ '^(import|expiry):' then
            kept.key := old.key;
        end if;
    end if;
    if of_table = 'transfer' then
        kept.reverses := old.reverses;
        kept.explanation := old.explanation;
        kept.hash := old.hash;
    end if;
    if old.member_id is distinct from current_setting('abacus.erasing', true)
        or new.member_id !~ '^erased-[0-9a-f]{{32}}$' or kept *<> old
    then
        raise exception '% is append-only: more than a name would change', tg_table_name
            using errcode = 'restrict_violation';
    end if;
    return new;
end $$
"""


def upgrade() -> None:
    op.execute(RENAME_ONLY.format(table="regexp_replace(tg_table_name, '_[0-9]+$', '')"))


def downgrade() -> None:
    op.execute(RENAME_ONLY.format(table="tg_table_name"))
