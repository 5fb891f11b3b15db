"""Approvals of a member or of an asker, and campaigns of a time, have an index."""

from alembic import op

revision = "0061"
down_revision = "0060"
branch_labels = None
depends_on = None

INDEXES = {
    "approval_member_idx": (
        "approval ((document::jsonb ->> 'member_id'), asked_at desc, approval_id)"
        " where kind in ('adjustment', 'reversal')"
    ),
    "approval_asked_by_idx": "approval (asked_by, asked_at desc, approval_id)",
    "campaign_ends_at_idx": "campaign (ends_at, starts_at)",
}


def upgrade() -> None:
    # Built while people work: a plain index would keep every deed waiting.
    with op.get_context().autocommit_block():
        for name, of in INDEXES.items():
            op.execute(f"drop index if exists {name}")  # of a build that was interrupted
            op.execute(f"create index concurrently {name} on {of}")


def downgrade() -> None:
    for name in INDEXES:
        op.execute(f"drop index {name}")
