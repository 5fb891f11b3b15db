"""Webhooks: where partners are told of their awards, what they are told, and how far rejections are read."""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

TABLES = (
    """
    create table webhook (
        partner_id text collate "C" constraint webhook_pkey primary key,
        url text not null,
        secret text not null,
        former_secret text,
        former_secret_until timestamptz,
        created_at timestamptz not null,
        disabled_at timestamptz,
        disabled_why text
    )
    """,
    """
    create table webhook_delivery (
        message_id text collate "C" constraint webhook_delivery_pkey primary key,
        partner_id text collate "C" not null,
        type text not null,
        body text not null,
        created_at timestamptz not null,
        attempts integer not null default 0,
        due_at timestamptz not null,
        retry_until timestamptz not null,
        taken_until timestamptz,
        delivered_at timestamptz,
        given_up_at timestamptz,
        last_status integer,
        last_error text
    )
    """,
    """
    create index webhook_delivery_partner_id_due_at_idx on webhook_delivery (partner_id, due_at)
        where delivered_at is null and given_up_at is null
    """,
    """
    create index webhook_delivery_partner_id_created_at_idx on webhook_delivery (partner_id, created_at)
        where delivered_at is null
    """,
    """
    create table webhook_cursor (
        source text constraint webhook_cursor_pkey primary key,
        xid xid8 not null,
        key text collate "C" not null,
        moved_at timestamptz not null
    )
    """,
)

RIGHTS = (
    "grant select, insert, update on webhook, webhook_delivery, webhook_cursor to abacus_app",
    "grant delete on webhook to abacus_app",
)


def upgrade() -> None:
    for statement in (*TABLES, *RIGHTS):
        op.execute(statement)


def downgrade() -> None:
    for table in ("webhook_cursor", "webhook_delivery", "webhook"):
        op.execute(f"drop table {table}")
