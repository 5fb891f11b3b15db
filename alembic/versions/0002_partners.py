"""Partners: who may award, how much, what they asked for and what met a limit."""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

TABLES = (
    """
    create table allowance (
        partner_id text collate "C" constraint allowance_pkey primary key,
        per_award bigint,
        per_member_day bigint,
        per_day bigint,
        in_total bigint,
        used bigint not null default 0,
        day date not null default '-infinity',
        used_that_day bigint not null default 0
    )
    """,
    """
    create table allowance_member (
        member_id text collate "C" not null,
        partner_id text collate "C" not null,
        day date not null,
        used bigint not null,
        constraint allowance_member_pkey primary key (member_id, partner_id, day)
    )
    """,
    """
    create table rejection (
        key text collate "C" constraint rejection_pkey primary key,
        member_id text collate "C" not null,
        program text collate "C" not null,
        points bigint not null,
        fingerprint text not null,
        reason text not null,
        detail text not null,
        rejected_at timestamptz not null,
        xid xid8 not null default pg_current_xact_id()
    )
    """,
    "create index rejection_xid_idx on rejection (xid)",
    """
    create table partner_award (
        award_id uuid constraint partner_award_pkey primary key,
        key text collate "C" not null,
        partner_id text collate "C" not null,
        member_id text collate "C" not null,
        program text collate "C" not null,
        country text not null,
        points bigint not null,
        occurred_at timestamptz not null,
        expires_on date not null,
        activity boolean not null,
        fingerprint text not null,
        explanation json not null,
        asked_at timestamptz not null,
        taken_until timestamptz,
        queued_at timestamptz
    )
    """,
    """
    create table partner (
        partner_id text collate "C" constraint partner_pkey primary key,
        name text not null,
        fixed_points boolean not null,
        computed_points boolean not null,
        countries text[] not null,
        card_scope text,
        requests_per_minute integer not null,
        signing_secret text,
        created_at timestamptz not null,
        created_by text not null,
        disabled_at timestamptz
    )
    """,
    """
    create table partner_key (
        prefix text collate "C" constraint partner_key_pkey primary key,
        partner_id text collate "C" not null,
        digest bytea not null,
        created_at timestamptz not null,
        expires_at timestamptz,
        last_used_at timestamptz
    )
    """,
    "create index partner_key_partner_id_idx on partner_key (partner_id)",
    "create index quarantine_key_idx on quarantine (key)",
)

IMMUTABLE = """
create trigger rejection_is_append_only before update or delete or truncate on rejection
    for each statement execute function abacus_refuse_change()
"""

RIGHTS = (
    "grant select, insert on rejection to abacus_app",
    "grant select, insert, update on allowance, allowance_member, partner_award, partner, partner_key to abacus_app",
    "grant delete on allowance_member, partner_key to abacus_app",
)


def upgrade() -> None:
    for statement in (*TABLES, IMMUTABLE, *RIGHTS):
        op.execute(statement)


def downgrade() -> None:
    op.execute("drop index quarantine_key_idx")
    for table in ("partner_key", "partner", "partner_award", "rejection", "allowance_member", "allowance"):
        op.execute(f"drop table {table}")
