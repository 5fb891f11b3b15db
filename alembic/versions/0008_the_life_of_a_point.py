"""The whole life of a point: lots, holds, adjustments, and what was taken back."""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

STATEMENTS = (
    """
    alter table account
        add column lots_closed bigint not null default 0,
        add column lots_drawn bigint not null default 0,
        add column lapsed_seq bigint not null default 0,
        add column lifetime boolean not null default false
    """,
    # Until now points were only earned, and lapsed oldest first.
    "update account set lots_drawn = earned_total - balance where earned_total <> balance",
    """
    update account a set lapsed_seq = t.seq
    from (select member_id, program, max(seq) as seq from transfer where kind = 'expire' group by 1, 2) t
    where a.member_id = t.member_id and a.program = t.program
    """,
    """
    create index transfer_member_id_program_reverses_idx on transfer (member_id, program, reverses)
        where reverses is not null
    """,
    """
    create table draw (
        member_id text collate "C" not null,
        program text collate "C" not null,
        lot_seq bigint not null,
        seq bigint not null,
        points bigint not null,
        constraint draw_pkey primary key (member_id, program, lot_seq, seq)
    )
    """,
    """
    create trigger draw_is_append_only before update or delete or truncate on draw
        for each statement execute function abacus_refuse_change()
    """,
    """
    create table hold (
        member_id text collate "C" not null,
        hold_id uuid not null,
        program text collate "C" not null,
        country text not null,
        points bigint not null,
        until timestamptz not null,
        status text not null,
        held_by text not null,
        placed_seq bigint not null,
        settled_seq bigint,
        constraint hold_pkey primary key (member_id, hold_id)
    )
    """,
    "create index hold_until_idx on hold (until) where status = 'open'",
    """
    create table adjustment (
        member_id text collate "C" not null,
        adjustment_id uuid not null,
        key text collate "C" not null,
        program text collate "C" not null,
        country text not null,
        points bigint not null,
        expires_on date not null,
        lifetime boolean not null,
        reason text not null,
        actor text not null,
        asked_by text,
        fingerprint text not null,
        status text not null,
        asked_at timestamptz not null,
        decided_by text,
        decided_at timestamptz,
        note text,
        constraint adjustment_pkey primary key (member_id, adjustment_id)
    )
    """,
    "create index adjustment_asked_at_idx on adjustment (asked_at) where status = 'pending'",
    "create index adjustment_adjustment_id_idx on adjustment (adjustment_id)",
    """
    alter table partner
        add column may_spend boolean not null default true,
        add column may_adjust boolean not null default true
    """,
    "alter table partner_award add column lifetime boolean not null default false",
    "grant select, insert on draw to abacus_app",
    "grant select, insert, update on hold, adjustment to abacus_app",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    op.execute("alter table partner_award drop column lifetime")
    op.execute("alter table partner drop column may_adjust, drop column may_spend")
    for table in ("adjustment", "hold", "draw"):
        op.execute(f"drop table {table}")
    op.execute("drop index transfer_member_id_program_reverses_idx")
    op.execute(
        "alter table account drop column lifetime, drop column lapsed_seq, drop column lots_drawn,"
        " drop column lots_closed"
    )
