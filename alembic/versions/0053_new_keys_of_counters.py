"""New keys of counters have a bound: how many each writer may admit on a day, and what became of them."""

from alembic import op

revision = "0053"
down_revision = "0052"
branch_labels = None
depends_on = None

STATEMENTS = (
    """
    create table counter_new_keys (
        definition_id integer not null,
        definition_version integer not null,
        day integer not null,
        writer bigint not null,
        granted bigint not null,
        admitted bigint not null,
        refused bigint not null,
        upto bigint not null,
        changed_at timestamptz not null,
        constraint counter_new_keys_pkey primary key (definition_id, definition_version, day, writer)
    )
    """,
    """
    grant select, insert, delete, update (granted, admitted, refused, upto, changed_at)
        on counter_new_keys to abacus_app
    """,
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    op.execute("drop table counter_new_keys")
