"""Webhooks: what was delivered long ago is found and forgotten."""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        "create index webhook_delivery_delivered_at_idx on webhook_delivery (delivered_at)"
        " where delivered_at is not null"
    )
    op.execute("grant delete on webhook_delivery to abacus_app")


def downgrade() -> None:
    op.execute("revoke delete on webhook_delivery from abacus_app")
    op.execute("drop index webhook_delivery_delivered_at_idx")
