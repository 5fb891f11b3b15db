"""Exchanges of a programme are listed from the newest on, those that have ended by their state, and found by their
partner's reference.
"""

from alembic import op

revision = "0105"
down_revision = "0104"
branch_labels = None
depends_on = None

INDEXES = {
    "exchange_programme_idx": "exchange (programme, quoted_at desc, exchange_id desc)",
    "exchange_ended_idx": "exchange (programme, state, quoted_at desc, exchange_id desc) where ended_at is not null",
    "exchange_reference_idx": "exchange (reference) where reference is not null",
}


def upgrade() -> None:
    # Built while members exchange: a plain index would keep each of them waiting.
    with op.get_context().autocommit_block():
        for name, of in INDEXES.items():
            op.execute(f"drop index if exists {name}")  # of a build that was interrupted
            op.execute(f"create index concurrently {name} on {of}")


def downgrade() -> None:
    for name in INDEXES:
        op.execute(f"drop index {name}")
