"""Notifications: what members are to be told, the messages made of it, the pace of channels, and preferences."""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

TABLES = (
    """
    create table notice (
        member_id text collate "C" not null,
        event_id text collate "C" not null,
        happened_at timestamptz not null,
        seq bigint not null,
        part json not null,
        due_at timestamptz not null,
        told_at timestamptz,
        constraint notice_pkey primary key (member_id, event_id)
    )
    """,
    "create index notice_due_at_idx on notice (due_at) where told_at is null",
    "create index notice_member_id_idx on notice (member_id) where told_at is null",
    "create index notice_told_at_idx on notice (told_at)",
    """
    create table notification (
        member_id text collate "C" not null,
        message_id text collate "C" not null,
        channel text not null,
        locale text not null,
        parts json not null,
        created_at timestamptz not null,
        due_at timestamptz not null,
        attempts integer not null default 0,
        failing_since timestamptz,
        last_error text,
        sent_at timestamptz,
        parked_at timestamptz,
        constraint notification_pkey primary key (member_id, message_id, channel)
    )
    """,
    """
    create index notification_channel_due_at_idx on notification (channel, due_at)
        where sent_at is null and parked_at is null
    """,
    "create index notification_parked_at_idx on notification (parked_at) where parked_at is not null",
    "create index notification_sent_at_idx on notification (sent_at) where sent_at is not null",
    """
    create table notification_pace (
        channel text constraint notification_pace_pkey primary key,
        free_at timestamptz not null
    )
    """,
    """
    create table notification_preference (
        member_id text collate "C" constraint notification_preference_pkey primary key,
        locale text,
        channels text[],
        set_by text not null,
        set_at timestamptz not null
    )
    """,
)

RIGHTS = (
    "grant select, insert, update on notice, notification, notification_pace, notification_preference to abacus_app",
    "grant delete on notice, notification to abacus_app",
)


def upgrade() -> None:
    for statement in (*TABLES, *RIGHTS):
        op.execute(statement)


def downgrade() -> None:
    for table in ("notification_preference", "notification_pace", "notification", "notice"):
        op.execute(f"drop table {table}")
