"""A month's books are closed, and reopened, on a record that only grows."""

from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

STATEMENTS = (
    """
    create table month_close (
        month text collate "C" not null,
        number integer not null,
        act text not null,
        signed_by text not null,
        signed_at timestamptz not null,
        reason text not null,
        files text not null,
        accepted text not null,
        seal integer,
        seal_hash text,
        constraint month_close_pkey primary key (month, number)
    )
    """,
    """
    create trigger month_close_is_append_only before update or delete or truncate on month_close
        for each statement execute function abacus_refuse_change()
    """,
    "grant select, insert on month_close to abacus_app",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    op.execute("drop table month_close")
