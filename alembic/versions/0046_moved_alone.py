"""What is moved without a second person is summed, by actor and by member and day."""

from alembic import op

revision = "0046"
down_revision = "0045"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        create table moved_alone (
            whose text collate "C" not null, day date not null, points bigint not null, primary key (whose, day)
        )
    """)
    op.execute("grant select, insert, delete, update (points) on moved_alone to abacus_app")


def downgrade() -> None:
    op.execute("drop table moved_alone")
