"""Points leave: which points of a lot are gone, and accounts whose lots lapse one by one."""

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
    "grant select, insert on draw to abacus_app",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    op.execute("drop table draw")
    op.execute(
        "alter table account drop column lots_closed, drop column lots_drawn, drop column lapsed_seq,"
        " drop column lifetime"
    )
