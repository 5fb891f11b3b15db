"""A saved draft keeps the texts before, so that what was typed is undone after it is opened again."""

from alembic import op

revision = "0066"
down_revision = "0065"
branch_labels = None
depends_on = None

CHANGES = "update (before)"


def upgrade() -> None:
    op.execute("alter table console_draft add column before text[] not null default '{}'")
    op.execute(f"grant {CHANGES} on console_draft to abacus_console")
    # The workers' login is the console's too, until the logins are split.
    op.execute(f"""
    do $$ begin
        if has_table_privilege('abacus_app', 'person', 'insert') then
            grant {CHANGES} on console_draft to abacus_app;
        end if;
    end $$
    """)


def downgrade() -> None:
    op.execute("alter table console_draft drop column before")
