"""Versions of downstreams, none of which is ever changed, with their secrets; and one table for the pace of all
receivers, those of notifications among them.
"""

from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None

STATEMENTS = (
    "alter table notification_pace rename to pace",
    "alter table pace rename column channel to receiver",
    "alter table pace rename constraint notification_pace_pkey to pace_pkey",
    """
    create table downstream (
        name text collate "C" not null,
        version integer not null,
        document jsonb not null,
        retired boolean not null,
        published_at timestamptz not null,
        published_by text not null,
        constraint downstream_pkey primary key (name, version)
    )
    """,
    """
    create table downstream_secret (
        name text collate "C" not null,
        secret text not null,
        former_secret text,
        former_secret_until timestamptz,
        constraint downstream_secret_pkey primary key (name)
    )
    """,
    """
    create trigger downstream_is_append_only before update or delete or truncate on downstream
        for each statement execute function abacus_refuse_change()
    """,
    """
    create trigger downstream_is_announced after insert on downstream
        for each statement execute function abacus_announce_change('downstream')
    """,
    """
    create trigger downstream_secret_is_announced after insert or update on downstream_secret
        for each statement execute function abacus_announce_change('downstream')
    """,
    "grant select, insert on downstream, downstream_secret to abacus_app",
    "grant update (secret, former_secret, former_secret_until) on downstream_secret to abacus_app",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    op.execute("drop table downstream_secret")
    op.execute("drop table downstream")
    op.execute("alter table pace rename constraint pace_pkey to notification_pace_pkey")
    op.execute("alter table pace rename column receiver to channel")
    op.execute("alter table pace rename to notification_pace")
