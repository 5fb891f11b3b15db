"""Tiers by points earned: what each account has, what it earned in which period, every change, and the period's end."""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

TABLES = (
    """
    create table account_tier (
        member_id text collate "C" not null,
        program text collate "C" not null,
        country text,
        tier text not null,
        until date,
        last_seq bigint not null default 0,
        changes bigint not null default 0,
        constraint account_tier_pkey primary key (member_id, program)
    ) with (fillfactor = 70)
    """,
    """
    create index account_tier_country_until_member_id_program_idx on account_tier (country, until, member_id, program)
        where until is not null
    """,
    """
    create table tier_tally (
        member_id text collate "C" not null,
        program text collate "C" not null,
        starts_on date not null,
        ends_on date not null,
        until date not null,
        earned bigint not null,
        tier text not null,
        threshold bigint not null,
        constraint tier_tally_pkey primary key (member_id, program, starts_on, ends_on)
    ) with (fillfactor = 70)
    """,
    """
    create table tier_change (
        member_id text collate "C" not null,
        program text collate "C" not null,
        n bigint not null,
        country text,
        from_tier text not null,
        to_tier text not null,
        reason text not null,
        actor text,
        note text,
        earned bigint,
        starts_on date,
        ends_on date,
        until date,
        changed_at timestamptz not null,
        published_at timestamptz,
        constraint tier_change_pkey primary key (member_id, program, n)
    )
    """,
    """
    create index tier_change_member_id_program_n_idx on tier_change (member_id, program, n) where published_at is null
    """,
    """
    create table tier_calendar (
        country text constraint tier_calendar_pkey primary key,
        rolled_through date not null
    )
    """,
    """
    create table tier_roll (
        country text not null,
        through date not null,
        found bigint not null,
        stepped_down bigint not null default 0,
        kept bigint not null default 0,
        started_at timestamptz not null,
        finished_at timestamptz,
        constraint tier_roll_pkey primary key (country, through)
    )
    """,
)

RIGHTS = (
    "grant select, insert, update on account_tier, tier_tally, tier_change, tier_calendar, tier_roll to abacus_app",
)


def upgrade() -> None:
    for statement in (*TABLES, *RIGHTS):
        op.execute(statement)


def downgrade() -> None:
    for table in ("tier_roll", "tier_calendar", "tier_change", "tier_tally", "account_tier"):
        op.execute(f"drop table {table}")
