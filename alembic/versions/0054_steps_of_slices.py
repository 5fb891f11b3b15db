"""A migration that goes from slice to slice remembers which of them have had their step."""

from alembic import op

revision = "0054"
down_revision = "0053"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # A ledger that was cut before 0045 has the table already.
    op.execute("""
        create table if not exists slice_step (
            number smallint constraint slice_step_pkey primary key,
            revision text collate "C" not null
        )
    """)
    op.execute("grant select on slice_step to abacus_app")


def downgrade() -> None:
    op.execute("drop table if exists slice_step")
