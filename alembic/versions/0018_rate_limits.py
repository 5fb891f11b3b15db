"""Buckets of requests, for all processes of the API together.

The table is unlogged: after a crash of the server it is empty, and every bucket is full.
"""

from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        create unlogged table rate_limit (
            id text collate "C" constraint rate_limit_pkey primary key,
            full_at timestamptz not null
        )
    """)
    op.execute("grant select, insert, update on rate_limit to abacus_app")


def downgrade() -> None:
    op.execute("drop table rate_limit")
