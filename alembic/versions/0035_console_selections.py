"""Selections of the quarantine's items, frozen before they are replayed."""

from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None

STATEMENTS = (
    """
    create table console_selection (
        selection_id uuid not null,
        chosen text not null,
        items text[] not null,
        made_by text collate "C" not null,
        made_at timestamptz not null,
        constraint console_selection_pkey primary key (selection_id)
    )
    """,
    "grant select, insert, delete on console_selection to abacus_app",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    op.execute("drop table console_selection")
