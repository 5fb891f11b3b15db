"""Partners: a new one has to be given the right to adjust points, as every one the right to see others' transfers.

Partners that are there may adjust as before. They see others' transfers without key, actor and explanation from now on.
"""

from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        alter table partner alter column may_adjust set default false,
            add column may_see_others boolean not null default false
    """)


def downgrade() -> None:
    op.execute("alter table partner alter column may_adjust set default true, drop column may_see_others")
