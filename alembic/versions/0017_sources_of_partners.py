"""Partners: the sources of transactions that each may name. Those that are there may name any, until somebody says."""

from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("alter table partner add column sources text[]")


def downgrade() -> None:
    op.execute("alter table partner drop column sources")
