"""Offers that have changed are found by an index: each process reads them whenever one changes."""

from alembic import op

revision = "0074"
down_revision = "0073"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("create index offer_changed_at_idx on offer (changed_at)")


def downgrade() -> None:
    op.execute("drop index offer_changed_at_idx")
