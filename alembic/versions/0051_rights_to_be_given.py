"""Spending, and reading the points of any member, are rights that a partner is given; partners of before keep both."""

from alembic import op

revision = "0051"
down_revision = "0050"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("alter table partner alter column may_spend set default false")
    op.execute("alter table partner add column may_read_members boolean not null default false")
    op.execute("update partner set may_read_members = true")
    op.execute("grant update (may_read_members) on partner to abacus_app")


def downgrade() -> None:
    op.execute("alter table partner drop column may_read_members")
    op.execute("alter table partner alter column may_spend set default true")
