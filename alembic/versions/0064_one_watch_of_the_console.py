"""Processes of the console look at the house in turns, and keep what they saw."""

from alembic import op

revision = "0064"
down_revision = "0063"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # How many seconds the oldest message of each queue had waited at a look, by the queue's name; null until it ends.
    op.execute("""
    create table console_look (
        at timestamptz not null,
        waits_s json,
        constraint console_look_pkey primary key (at)
    )
    """)
    op.execute("""
    create table console_alarm (
        cause text not null,
        about text not null,
        since timestamptz not null,
        over_at timestamptz,
        details text[] not null,
        commands text[] not null,
        constraint console_alarm_pkey primary key (cause, about)
    )
    """)
    op.execute("grant select, insert, delete, update (waits_s) on console_look to abacus_app")
    op.execute("""
    grant select, insert, delete, update (since, over_at, details, commands) on console_alarm to abacus_app
    """)


def downgrade() -> None:
    op.execute("drop table console_alarm")
    op.execute("drop table console_look")
