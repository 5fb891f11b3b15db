"""Approvals about a thing are found by it: the log, narrowed to the thing, has who decided on them."""

from alembic import op

revision = "0062"
down_revision = "0061"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Built while people work: a plain index would keep every deed waiting.
    with op.get_context().autocommit_block():
        op.execute("drop index if exists approval_subject_idx")  # of a build that was interrupted
        op.execute("create index concurrently approval_subject_idx on approval (kind, subject)")


def downgrade() -> None:
    op.execute("drop index approval_subject_idx")
