"""What was posted by the minute, and how long it took, for charts."""

from alembic import op

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None

STATEMENTS = (
    """
    create table points_pulse (
        step text collate "C" not null,
        since timestamptz not null,
        country text collate "C" not null,
        within_s double precision not null,
        awards bigint not null,
        points bigint not null,
        constraint points_pulse_pkey primary key (step, since, country, within_s)
    )
    """,
    "grant select, insert, delete, update (awards, points) on points_pulse to abacus_app",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    op.execute("drop table points_pulse")
