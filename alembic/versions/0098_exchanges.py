"""Exchanges with partners: programmes, links, exchanges with their trail, and what was exchanged in a period."""

from alembic import op

revision = "0098"
down_revision = "0096"
branch_labels = None
depends_on = None

CHANGED = "status, changed_at, changed_by, approved_by, approved_at, reason"

# A document is never changed. Of the versions of a programme one at most is in force.
PROGRAMMES = f"""
create table exchange_programme (
    name text collate "C" not null,
    version integer not null,
    country text not null,
    starts_at timestamptz not null,
    ends_at timestamptz not null,
    document jsonb not null,
    status text not null,
    drafted_at timestamptz not null,
    drafted_by text not null,
    changed_at timestamptz not null,
    changed_by text not null,
    approved_by text,
    approved_at timestamptz,
    reason text,
    constraint exchange_programme_pkey primary key (name, version),
    constraint exchange_programme_approved_check check (status in ('draft', 'submitted', 'ended')
        or approved_by is not null)
);
create index exchange_programme_status_ends_at_idx on exchange_programme (status, ends_at);
create unique index exchange_programme_in_force on exchange_programme (name) where status in ('approved', 'paused');
create trigger exchange_programme_documents_are_append_only
    before update of name, version, document, country, starts_at, ends_at, drafted_at, drafted_by or delete or truncate
    on exchange_programme for each statement execute function abacus_refuse_change();
create trigger exchange_programme_is_announced after insert or update on exchange_programme
    for each statement execute function abacus_announce_change('exchange_programme');
grant select, insert, update ({CHANGED}) on exchange_programme to abacus_app
"""

# The account's number is encrypted; `digest` is keyed, and finds it. A number belongs to one member, and a member has
# one number at a programme.
LINKS = """
create table exchange_link (
    link_id uuid not null,
    programme text collate "C" not null,
    partner text collate "C" not null,
    member_id text collate "C" not null,
    digest bytea,
    number text,
    holder text,
    shown text not null,
    state text not null,
    code_digest bytea,
    code_until timestamptz,
    tries integer not null default 0,
    asked_at timestamptz not null,
    asked_by text not null,
    verified_at timestamptz,
    usable_from timestamptz,
    ended_at timestamptz,
    ended_by text,
    reason text,
    constraint exchange_link_pkey primary key (link_id)
);
create unique index exchange_link_of_member on exchange_link (programme, member_id) where ended_at is null;
create unique index exchange_link_of_number on exchange_link (programme, digest)
    where ended_at is null and verified_at is not null;
create index exchange_link_member_id_idx on exchange_link (member_id);
grant select, insert, update (digest, number, holder, shown, state, code_digest, code_until, tries, verified_at,
    usable_from, ended_at, ended_by, reason) on exchange_link to abacus_app
"""

EXCHANGES = """
create table exchange (
    exchange_id uuid not null,
    direction text not null,
    programme text collate "C" not null,
    version integer not null,
    partner text collate "C" not null,
    member_id text collate "C" not null,
    program text collate "C" not null,
    country text not null,
    link_id uuid not null,
    points bigint not null,
    theirs bigint not null,
    fee bigint not null,
    key text collate "C",
    fingerprint text not null,
    actor text not null,
    source text not null,
    state text not null,
    reason text,
    detail text,
    reference text,
    quoted_at timestamptz not null,
    expires_at timestamptz not null,
    asked_at timestamptz,
    sent_at timestamptz,
    credited_at timestamptz,
    ended_at timestamptz,
    changed_at timestamptz not null,
    due_at timestamptz,
    late_at timestamptz,
    attempts integer not null,
    turns integer not null,
    file text collate "C",
    constraint exchange_pkey primary key (exchange_id)
);
create unique index exchange_key_key on exchange (key) where key is not null;
create index exchange_due_idx on exchange (programme, due_at) where due_at is not null;
create index exchange_member_id_idx on exchange (member_id, quoted_at desc);
create index exchange_open_idx on exchange (programme, state, changed_at) where ended_at is null;
create index exchange_credited_idx on exchange (programme, credited_at) where credited_at is not null;
create index exchange_file_idx on exchange (file) where file is not null;
grant select, insert, delete, update (key, fingerprint, actor, source, state, reason, detail, reference, asked_at,
    sent_at, credited_at, ended_at, changed_at, due_at, late_at, attempts, turns, file) on exchange to abacus_app
"""

# Followers of the trail keep their place in a cursor.
TURNS = """
create table exchange_turn (
    exchange_id uuid not null,
    n integer not null,
    state text not null,
    at timestamptz not null,
    by text not null,
    reason text,
    detail text,
    xid xid8 not null default pg_current_xact_id(),
    constraint exchange_turn_pkey primary key (exchange_id, n)
);
create index exchange_turn_xid_idx on exchange_turn (xid);
create table exchange_cursor (
    follower text not null,
    xid xid8 not null,
    exchange_id uuid not null,
    n integer not null,
    moved_at timestamptz not null,
    constraint exchange_cursor_pkey primary key (follower)
);
create trigger exchange_turn_is_append_only before update or delete or truncate on exchange_turn
    for each statement execute function abacus_refuse_change();
grant select, insert on exchange_turn to abacus_app;
grant select, insert, update (xid, exchange_id, n, moved_at) on exchange_cursor to abacus_app
"""

# `owner` is a programme, or a programme and a member; the period is empty for "ever".
USES = """
create table exchange_use (
    owner text collate "C" not null,
    direction text not null,
    period text not null,
    points bigint not null,
    constraint exchange_use_pkey primary key (owner, direction, period)
);
grant select, insert, update (points) on exchange_use to abacus_app
"""

# What both houses owe each other, entry by entry; the standing has the sums, and orders the entries.
POSITIONS = """
create table exchange_standing (
    programme text collate "C" not null,
    last_n bigint not null,
    balance numeric not null,
    constraint exchange_standing_pkey primary key (programme)
);
create table exchange_position (
    programme text collate "C" not null,
    n bigint not null,
    at timestamptz not null,
    kind text not null,
    direction text,
    exchange_id uuid,
    document text,
    points bigint not null,
    theirs bigint not null,
    money numeric not null,
    currency text not null,
    balance_after numeric not null,
    by text not null,
    reason text,
    constraint exchange_position_pkey primary key (programme, n)
);
create unique index exchange_position_once on exchange_position (exchange_id, kind) where exchange_id is not null;
create index exchange_position_at_idx on exchange_position (programme, at);
create trigger exchange_position_is_append_only before update or delete or truncate on exchange_position
    for each statement execute function abacus_refuse_change();
grant select, insert, update (last_n, balance) on exchange_standing to abacus_app;
grant select, insert on exchange_position to abacus_app
"""


def upgrade() -> None:
    for part in (PROGRAMMES, LINKS, EXCHANGES, TURNS, USES, POSITIONS):
        for statement in part.split(";\n"):
            op.execute(statement)


def downgrade() -> None:
    for table in ("position", "standing", "use", "cursor", "turn", "link", "programme"):
        op.execute(f"drop table exchange_{table}")
    op.execute("drop table exchange")
