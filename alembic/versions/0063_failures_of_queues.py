"""Why a queue's last message failed is kept, also when the worker that saw it has ended."""

from alembic import op

revision = "0063"
down_revision = "0062"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
    create table queue_failure (
        queue text not null,
        why text not null,
        at timestamptz not null,
        receives integer not null,
        constraint queue_failure_pkey primary key (queue)
    )
    """)
    op.execute("grant select, insert, delete, update (why, at, receives) on queue_failure to abacus_app")


def downgrade() -> None:
    op.execute("drop table queue_failure")
