"""The spine: ledger, rate cards, tiers, quarantine, and the role that may not rewrite history."""

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TABLES = """
create table claim (
    key text collate "C" constraint claim_pkey primary key,
    member_id text collate "C" not null,
    program text collate "C" not null,
    seq bigint not null,
    fingerprint text not null
);
create table account (
    member_id text collate "C" not null,
    program text collate "C" not null,
    country text not null,
    balance bigint not null default 0,
    held bigint not null default 0,
    earned_total bigint not null default 0,
    expires_on date,
    last_seq bigint not null default 0,
    head_hash bytea not null default '\\x',
    last_xid xid8 not null default '0',
    constraint account_pkey primary key (member_id, program)
) with (fillfactor = 70);
create table transfer (
    member_id text collate "C" not null,
    program text collate "C" not null,
    seq bigint not null,
    kind text not null,
    points bigint not null,
    balance_after bigint not null,
    key text collate "C" not null,
    country text not null,
    occurred_at timestamptz not null,
    posted_at timestamptz not null,
    expires_on date,
    explanation json not null,
    reverses text,
    actor text,
    xid xid8 not null default pg_current_xact_id(),
    hash bytea not null,
    constraint transfer_pkey primary key (member_id, program, seq)
);
create index transfer_xid_idx on transfer (xid);
create index transfer_posted_at_idx on transfer using brin (posted_at);
create table relay_cursor (
    topic text constraint relay_cursor_pkey primary key,
    xid xid8 not null,
    member_id text collate "C" not null,
    program text collate "C" not null,
    seq bigint not null,
    moved_at timestamptz not null
);
create table rate_card (
    scope text not null,
    version integer not null,
    effective_from timestamptz not null,
    document jsonb not null,
    published_at timestamptz not null,
    published_by text not null,
    constraint rate_card_pkey primary key (scope, version)
);
create table membership (
    member_id text collate "C" not null,
    program text collate "C" not null,
    tier text not null,
    reason text not null,
    actor text not null,
    set_at timestamptz not null,
    constraint membership_pkey primary key (member_id, program)
);
create table quarantine (
    id text constraint quarantine_pkey primary key,
    stage text not null,
    origin text not null,
    reason text not null,
    detail text not null,
    body bytea not null,
    key text,
    fingerprint text,
    posted_fingerprint text,
    status text not null,
    set_aside_at timestamptz not null,
    replayed_at timestamptz,
    replays integer not null default 0
);
create index quarantine_status_reason_set_aside_at_idx on quarantine (status, reason, set_aside_at);
"""

IMMUTABLE = """
create function abacus_refuse_change() returns trigger language plpgsql as $$
begin
    raise exception '% is append-only: % refused', tg_table_name, tg_op using errcode = 'restrict_violation';
end $$;
create trigger claim_is_append_only before update or delete or truncate on claim
    for each statement execute function abacus_refuse_change();
create trigger transfer_is_append_only before update or delete or truncate on transfer
    for each statement execute function abacus_refuse_change();
create trigger rate_card_is_append_only before update or delete or truncate on rate_card
    for each statement execute function abacus_refuse_change();
"""

# Roles belong to the whole server: another Abacus database on it may have made this one already, even just now.
ROLE = """
do $$
begin
    if not exists (select from pg_roles where rolname = 'abacus_app') then
        create role abacus_app nologin;
    end if;
exception when duplicate_object or unique_violation then null;
end $$;
do $$
begin
    -- From Postgres 16 on, being a member no longer means that one may take the role.
    if not pg_has_role(current_user, 'abacus_app',
                       case when current_setting('server_version_num')::int >= 160000 then 'set' else 'member' end) then
        execute format('grant abacus_app to %I', current_user);
    end if;
end $$;
grant usage on schema public to abacus_app;
grant select, insert on claim, transfer, rate_card to abacus_app;
grant select, insert, update on account, relay_cursor, quarantine, membership to abacus_app;
grant delete on membership to abacus_app;
grant select on alembic_version to abacus_app;
"""


def statements(script: str) -> list[str]:
    """asyncpg takes one statement at a time; a statement ends with a semicolon at the end of a line outside $$."""
    found: list[str] = []
    current: list[str] = []
    quoted = False
    for line in script.strip().splitlines():
        current.append(line)
        quoted ^= line.count("$$") % 2 == 1
        if line.endswith(";") and not quoted:
            found.append("\n".join(current))
            current = []
    return found


def upgrade() -> None:
    for script in (TABLES, IMMUTABLE, ROLE):
        for statement in statements(script):
            op.execute(statement)


def downgrade() -> None:
    for table in ("quarantine", "membership", "rate_card", "relay_cursor", "transfer", "account", "claim"):
        op.execute(f"drop table {table}")
    op.execute("drop function abacus_refuse_change()")
    op.execute("revoke usage on schema public from abacus_app")
    op.execute("revoke select on alembic_version from abacus_app")
