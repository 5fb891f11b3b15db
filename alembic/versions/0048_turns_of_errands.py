"""People take turns with errands, by when the last one of each was started."""

from alembic import op

revision = "0048"
down_revision = "0047"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("create index console_errand_turns_idx on console_errand (asked_by, started_at)")


def downgrade() -> None:
    op.execute("drop index console_errand_turns_idx")
