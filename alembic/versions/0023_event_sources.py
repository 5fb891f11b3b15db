"""Event sources are published as versions, which are never changed, and announced to every process."""

from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

STATEMENTS = (
    """
    create table event_source (
        source text not null,
        version integer not null,
        document jsonb not null,
        published_at timestamptz not null,
        published_by text not null,
        constraint event_source_pkey primary key (source, version)
    )
    """,
    """
    create trigger event_source_is_append_only before update or delete or truncate on event_source
        for each statement execute function abacus_refuse_change()
    """,
    """
    create trigger event_source_is_announced after insert on event_source
        for each statement execute function abacus_announce_change('event_source')
    """,
    "grant select, insert on event_source to abacus_app",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    op.execute("drop table event_source")
