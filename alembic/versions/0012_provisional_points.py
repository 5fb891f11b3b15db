"""Partners' awards: whether the points of an entry are to be computed anew before they are posted."""

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("alter table partner_award add column provisional boolean not null default false")


def downgrade() -> None:
    op.execute("alter table partner_award drop column provisional")
