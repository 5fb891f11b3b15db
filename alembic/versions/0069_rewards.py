"""Rewards: their documents, pools of codes, what was used of limits, and redemptions."""

from alembic import op

revision = "0069"
down_revision = "0068"
branch_labels = None
depends_on = None

DOCUMENTS = """
create table reward (
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
    constraint reward_pkey primary key (name, version),
    constraint reward_approved_check check (status in ('draft', 'submitted', 'ended') or approved_by is not null)
);
create index reward_status_ends_at_idx on reward (status, ends_at);
create unique index reward_in_force on reward (name) where status in ('approved', 'paused');
create trigger reward_documents_are_append_only
before update of name, version, document, country, starts_at, ends_at, drafted_at, drafted_by or delete or truncate
    on reward
    for each statement execute function abacus_refuse_change();
create trigger reward_is_announced after insert or update on reward
    for each statement execute function abacus_announce_change('reward');
grant select, insert, update (status, changed_at, changed_by, approved_by, approved_at, reason) on reward to abacus_app;
"""

# Codes have places from 1 on, and are handed out in that order; `given` is the last place that was. A spare code was
# taken and never shown. Digests are keyed, so that nobody finds a code by guessing at them.
POOLS = """
create table reward_pool (
    name text collate "C" not null,
    loaded bigint not null,
    given bigint not null,
    digest_key text not null,
    made_at timestamptz not null,
    constraint reward_pool_pkey primary key (name),
    constraint reward_pool_given_check check (given <= loaded)
);
grant select, insert, update (loaded, given, digest_key) on reward_pool to abacus_app;
create table reward_code (
    pool text collate "C" not null,
    place bigint not null,
    digest bytea not null,
    secret text,
    redemption_id uuid,
    is_spare boolean not null default false,
    constraint reward_code_pkey primary key (pool, place),
    constraint reward_code_digest_key unique (pool, digest)
);
create index reward_code_redemption_id_idx on reward_code (redemption_id) where redemption_id is not null;
create index reward_code_is_spare_idx on reward_code (pool, place) where is_spare;
grant select, insert, update (secret, redemption_id, is_spare) on reward_code to abacus_app;
"""

# Counted in pieces: ever, where the period is empty, and by day of the reward's zone.
USES = """
create table reward_use (
    reward text collate "C" not null,
    period text not null,
    pieces bigint not null,
    constraint reward_use_pkey primary key (reward, period)
);
grant select, insert, update (pieces) on reward_use to abacus_app;
"""

REDEMPTIONS = """
create table reward_redemption (
    key text collate "C" not null,
    redemption_id uuid not null,
    fingerprint text not null,
    member_id text collate "C" not null,
    program text collate "C" not null,
    country text not null,
    reward text collate "C" not null,
    version integer not null,
    quantity integer not null,
    points bigint not null,
    money numeric not null,
    day date not null,
    pool text collate "C",
    webhook text,
    partner text,
    late_at timestamptz,
    actor text not null,
    source text not null,
    stage text not null,
    reason text,
    detail text,
    asked_at timestamptz not null,
    changed_at timestamptz not null,
    constraint reward_redemption_pkey primary key (key)
);
create index reward_redemption_id_idx on reward_redemption (redemption_id);
create index reward_redemption_member_id_idx on reward_redemption (member_id, reward);
create index reward_redemption_unfinished_idx on reward_redemption (changed_at)
    where stage in ('opened', 'taken', 'releasing', 'cancelling', 'returning');
create index reward_redemption_sent_idx on reward_redemption (late_at) where stage = 'sent';
grant select, insert, update (stage, reason, detail, changed_at) on reward_redemption to abacus_app;
"""


def upgrade() -> None:
    for part in (DOCUMENTS, POOLS, USES, REDEMPTIONS):
        for statement in filter(str.strip, part.split(";")):
            op.execute(statement)


def downgrade() -> None:
    for table in ("reward_redemption", "reward_use", "reward_code", "reward_pool", "reward"):
        op.execute(f"drop table {table}")
