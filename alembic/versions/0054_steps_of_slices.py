"""A migration that goes from slice to slice remembers which of them have had their step."""

from alembic import op

from abacus.platform.slices.migration_steps import REMEMBERED

revision = "0054"
down_revision = "0053"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for statement in REMEMBERED:  # a migration that has steps runs them before it comes here
        op.execute(statement)


def downgrade() -> None:
    op.execute("drop table if exists slice_step")
