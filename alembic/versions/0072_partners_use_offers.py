"""Partners ask for offers and take them, and some are told why an offer fails: rights that each is given. Offers whose
budget is gone are marked.
"""

from alembic import op

revision = "0072"
down_revision = "0070"
branch_labels = None
depends_on = None


# A pot that is empty: over the whole life of the offer, or on a day of its zone.
SPENT = """
create table offer_spent (
    offer text collate "C" not null,
    period text collate "C" not null,
    constraint offer_spent_pkey primary key (offer, period)
)
"""


def upgrade() -> None:
    op.execute("""
        alter table partner add column may_use_offers boolean not null default false,
            add column may_explain_offers boolean not null default false
    """)
    op.execute("grant update (may_use_offers, may_explain_offers) on partner to abacus_app")
    op.execute(SPENT)
    op.execute("""
        create trigger offer_spent_is_announced after insert or delete on offer_spent
            for each statement execute function abacus_announce_change('offer_spent')
    """)
    op.execute("grant select, insert, delete on offer_spent to abacus_app")


def downgrade() -> None:
    op.execute("drop table offer_spent")
    op.execute("alter table partner drop column may_use_offers, drop column may_explain_offers")
