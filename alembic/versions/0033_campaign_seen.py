"""How many events of each type campaigns looked at, by hour."""

from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None

STATEMENTS = (
    """
    create table campaign_seen (
        source text collate "C" not null,
        type text collate "C" not null,
        country text collate "C" not null,
        hour timestamptz not null,
        slot integer not null,
        events bigint not null,
        constraint campaign_seen_pkey primary key (source, type, country, hour, slot)
    )
    """,
    "grant select, insert, update (events) on campaign_seen to abacus_app",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    op.execute("drop table campaign_seen")
