"""People save drafts of documents, of any kind, and others who may see them take them over as copies."""

from alembic import op

revision = "0058"
down_revision = "0057"
branch_labels = None
depends_on = None

CHANGES = "insert, delete, update (title, country, text, saved_at)"


def upgrade() -> None:
    op.execute("""
    create table console_draft (
        draft_id uuid not null,
        kind text not null,
        title text not null,
        country text,
        text text not null,
        owner text not null,
        saved_at timestamptz not null,
        constraint console_draft_pkey primary key (draft_id)
    )
    """)
    op.execute("create index console_draft_owner_idx on console_draft (owner, saved_at desc)")
    op.execute("create index console_draft_saved_at_idx on console_draft (saved_at desc, draft_id desc)")
    op.execute("grant select on console_draft to abacus_app")
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
    op.execute("drop table console_draft")
