"""The accounts of the journal are published documents, in versions."""

from alembic import op

revision = "0057"
down_revision = "0056"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
    create table journal_accounts (
        name text not null,
        version integer not null,
        document jsonb not null,
        published_at timestamptz not null,
        published_by text not null,
        constraint journal_accounts_pkey primary key (name, version)
    )
    """)
    op.execute("""
    create trigger journal_accounts_is_append_only before update or delete or truncate on journal_accounts
        for each statement execute function abacus_refuse_change()
    """)
    op.execute("grant select, insert on journal_accounts to abacus_app")


def downgrade() -> None:
    op.execute("drop table journal_accounts")
