"""Versions of campaigns, whose documents are never changed, with the state of each; announced to every process."""

from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

STATEMENTS = (
    """
    create table campaign (
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
        constraint campaign_pkey primary key (name, version),
        constraint campaign_approved_check check (
            status in ('draft', 'submitted', 'ended') or approved_by is not null
        )
    )
    """,
    "create index campaign_status_ends_at_idx on campaign (status, ends_at)",
    "create unique index campaign_in_force on campaign (name) where status in ('approved', 'paused')",
    """
    create trigger campaign_documents_are_append_only
        before delete or truncate or update of
            name, version, document, country, starts_at, ends_at, drafted_at, drafted_by
        on campaign for each statement execute function abacus_refuse_change()
    """,
    """
    create trigger campaign_is_announced after insert or update on campaign
        for each statement execute function abacus_announce_change('campaign')
    """,
    "grant select, insert on campaign to abacus_app",
    "grant update (status, changed_at, changed_by, approved_by, approved_at, reason) on campaign to abacus_app",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    op.execute("drop table campaign")
