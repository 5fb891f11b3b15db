"""The processes that run, by their own account, for `abacus status`."""

from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        create table worker_process (
            process_id uuid primary key,
            host text not null,
            pid integer not null,
            version text not null,
            started_at timestamptz not null,
            seen_at timestamptz not null,
            report json not null
        )
    """)
    op.execute("grant select, insert, update, delete on worker_process to abacus_app")


def downgrade() -> None:
    op.execute("drop table worker_process")
