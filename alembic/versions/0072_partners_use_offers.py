"""Partners ask for offers and take them, and some are told why an offer fails: rights that each is given."""

from alembic import op

revision = "0072"
down_revision = "0070"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        alter table partner add column may_use_offers boolean not null default false,
            add column may_explain_offers boolean not null default false
    """)
    op.execute("grant update (may_use_offers, may_explain_offers) on partner to abacus_app")


def downgrade() -> None:
    op.execute("alter table partner drop column may_use_offers, drop column may_explain_offers")
