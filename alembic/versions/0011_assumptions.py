"""Finance: what is assumed of points, by version."""

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

STATEMENTS = (
    """
    create table assumption (
        program text collate "C" not null,
        country text collate "C" not null,
        version integer not null,
        effective_from date not null,
        currency text not null,
        expected_use numeric not null,
        cost_per_point numeric,
        selling_price numeric,
        allocated_per_point numeric,
        set_at timestamptz not null,
        set_by text not null,
        reason text not null,
        constraint assumption_pkey primary key (program, country, version)
    )
    """,
    """
    create trigger assumption_is_append_only before update or delete or truncate on assumption
        for each statement execute function abacus_refuse_change()
    """,
    "grant select, insert on assumption to abacus_app",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    op.execute("drop table assumption")
