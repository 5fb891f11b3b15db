"""Seals: one hash over all accounts, again and again, and the leaves that stand for accounts with another name now."""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

STATEMENTS = (
    """
    create table seal (
        number bigint constraint seal_pkey primary key,
        sealed_at timestamptz not null,
        accounts bigint not null,
        transfers bigint not null,
        root bytea not null,
        snapshot text not null,
        previous bytea not null,
        hash bytea not null,
        published_at timestamptz
    )
    """,
    "create index seal_published_at_idx on seal (published_at) where published_at is null",
    # Only the time of publishing is ever set.
    """
    create trigger seal_is_append_only
        before update of number, sealed_at, accounts, transfers, root, snapshot, previous, hash or delete or truncate
        on seal for each statement execute function abacus_refuse_change()
    """,
    """
    create table sealed_leaf (
        member_id text collate "C" not null,
        program text collate "C" not null,
        seal_number bigint not null,
        position bigint not null,
        leaf bytea not null,
        transfers bigint not null,
        constraint sealed_leaf_pkey primary key (member_id, program, seal_number)
    )
    """,
    "create index sealed_leaf_seal_number_position_idx on sealed_leaf (seal_number, position)",
    """
    create trigger sealed_leaf_is_append_only before update or delete or truncate on sealed_leaf
        for each statement execute function abacus_refuse_change()
    """,
    "grant select, insert, update (published_at) on seal to abacus_app",
    "grant select on sealed_leaf to abacus_app",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    for table in ("sealed_leaf", "seal"):
        op.execute(f"drop table {table}")
