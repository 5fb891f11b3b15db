"""Partners load places and regions: a right that each is given."""

from alembic import op

revision = "0094"
down_revision = "0093"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("alter table partner add column may_load_places boolean not null default false")
    op.execute("grant update (may_load_places) on partner to abacus_app")


def downgrade() -> None:
    op.execute("alter table partner drop column may_load_places")
