"""Expiry: the accounts of a country by the day on which their points lapse, and the record of each month's end."""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

STATEMENTS = (
    """
    create index account_country_expires_on_member_id_program_idx
        on account (country, expires_on, member_id, program)
    """,
    """
    create table expiry_run (
        country text collate "C" not null,
        month text collate "C" not null,
        last_day date not null,
        lapsed_at timestamptz not null,
        started_at timestamptz not null,
        swept_at timestamptz,
        finished_at timestamptz,
        found_day date not null,
        found_member text collate "C" not null,
        found_program text collate "C" not null,
        constraint expiry_run_pkey primary key (country, month)
    )
    """,
    """
    create table expiry_batch (
        country text collate "C" not null,
        month text collate "C" not null,
        number integer not null,
        accounts integer not null,
        body text,
        sent_at timestamptz,
        done_at timestamptz,
        expired integer not null default 0,
        skipped integer not null default 0,
        points bigint not null default 0,
        constraint expiry_batch_pkey primary key (country, month, number)
    )
    """,
    "grant select, insert, update on expiry_run, expiry_batch to abacus_app",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    for table in ("expiry_batch", "expiry_run"):
        op.execute(f"drop table {table}")
    op.execute("drop index account_country_expires_on_member_id_program_idx")
