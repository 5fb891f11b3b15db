"""Of a slice whose server was away, events are behind what was heard of their partition."""

from alembic import op

revision = "0095"
down_revision = "0094"
branch_labels = None
depends_on = None

# Up to when the events of a partition were read for the members of a slice that was passed over. It is gone when all
# was read again.
BEHIND = """
create table journey_behind (
    topic text collate "C" not null,
    partition integer not null,
    slice integer not null,
    upto timestamptz not null,
    constraint journey_behind_pkey primary key (topic, partition, slice)
);
grant select, insert, update (upto), delete on journey_behind to abacus_app
"""


def before(_slices: int) -> None:
    """Nothing has to be there first."""


def in_slice(_number: int, _slices: int) -> None:
    """It lies beside what was heard, and not in slices."""


def upgrade() -> None:
    for statement in BEHIND.split(";\n"):
        op.execute(statement)


def downgrade() -> None:
    op.execute("drop table journey_behind")
