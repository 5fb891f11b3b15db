"""Definitions of counters are published as versions, which are never changed but may be retired, and announced to
every process.
"""

from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

TABLES = {
    "counter_definition": """
        create table counter_definition (
            definition_id integer not null,
            version integer not null,
            document jsonb not null,
            published_at timestamptz not null,
            published_by text not null,
            constraint counter_definition_pkey primary key (definition_id, version)
        )
    """,
    "counter_retirement": """
        create table counter_retirement (
            definition_id integer not null,
            version integer not null,
            retired_at timestamptz not null,
            retired_by text not null,
            reason text not null,
            constraint counter_retirement_pkey primary key (definition_id, version)
        )
    """,
}


def upgrade() -> None:
    for table, create in TABLES.items():
        op.execute(create)
        op.execute(f"""
            create trigger {table}_is_append_only before update or delete or truncate on {table}
                for each statement execute function abacus_refuse_change()
        """)
        op.execute(f"""
            create trigger {table}_is_announced after insert on {table}
                for each statement execute function abacus_announce_change('counter_definition')
        """)
        op.execute(f"grant select, insert on {table} to abacus_app")


def downgrade() -> None:
    for table in TABLES:
        op.execute(f"drop table {table}")
