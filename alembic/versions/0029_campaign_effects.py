"""What comes of events that campaigns answer to: claims, progress, limits, actions, sums."""

from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

STATEMENTS = (
    """
    create table campaign_claim (
        key text collate "C" not null,
        member_id text collate "C" not null,
        campaign text collate "C" not null,
        version integer not null,
        decided_at timestamptz not null,
        constraint campaign_claim_pkey primary key (key)
    )
    """,
    "create index campaign_claim_member_id_idx on campaign_claim (member_id)",
    """
    create table campaign_progress (
        member_id text collate "C" not null,
        campaign text collate "C" not null,
        scope text collate "C" not null,
        events bigint not null,
        runs bigint not null,
        points bigint not null,
        cost bigint not null,
        marks bytea not null,
        variant text,
        constraint campaign_progress_pkey primary key (member_id, campaign, scope)
    )
    """,
    "create index campaign_progress_campaign_idx on campaign_progress (campaign) where variant is not null",
    """
    create table campaign_pot (
        campaign text collate "C" not null,
        period text collate "C" not null,
        runs bigint not null,
        points bigint not null,
        cost bigint not null,
        constraint campaign_pot_pkey primary key (campaign, period)
    )
    """,
    """
    create table campaign_slot (
        campaign text collate "C" not null,
        period text collate "C" not null,
        slot integer not null,
        version integer not null,
        runs bigint not null,
        points bigint not null,
        cost bigint not null,
        constraint campaign_slot_pkey primary key (campaign, period, slot)
    )
    """,
    """
    create table campaign_action (
        member_id text collate "C" not null,
        key text collate "C" not null,
        number integer not null,
        campaign text collate "C" not null,
        version integer not null,
        step integer not null,
        variant text,
        kind text not null,
        receiver text not null,
        decided_at timestamptz not null,
        due_at timestamptz not null,
        document json not null,
        event json,
        attempts integer not null default 0,
        failing_since timestamptz,
        done_at timestamptz,
        refused_at timestamptz,
        reason text,
        constraint campaign_action_pkey primary key (member_id, key, number)
    )
    """,
    """
    create index campaign_action_receiver_due_at_idx on campaign_action (receiver, due_at)
        where done_at is null and refused_at is null
    """,
    """
    create table campaign_sum (
        campaign text collate "C" not null,
        version integer not null,
        day date not null,
        variant text collate "C" not null,
        outcome text collate "C" not null,
        slot integer not null,
        events bigint not null,
        points bigint not null,
        cost bigint not null,
        constraint campaign_sum_pkey primary key (campaign, version, day, variant, outcome, slot)
    )
    """,
    "grant select, insert on campaign_claim, campaign_action to abacus_app",
    "grant select, insert on campaign_progress, campaign_pot, campaign_slot, campaign_sum to abacus_app",
    "grant update (events, runs, points, cost, marks, variant) on campaign_progress to abacus_app",
    "grant update (runs, points, cost) on campaign_pot to abacus_app",
    "grant update (version, runs, points, cost) on campaign_slot to abacus_app",
    "grant update (events, points, cost) on campaign_sum to abacus_app",
    """
    grant update (due_at, attempts, failing_since, done_at, refused_at, reason) on campaign_action to abacus_app
    """,
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    for table in ("sum", "action", "slot", "pot", "progress", "claim"):
        op.execute(f"drop table campaign_{table}")
