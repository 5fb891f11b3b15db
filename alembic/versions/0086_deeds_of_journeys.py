"""What journeys do for many members at once waits as one row."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision = "0086"
down_revision = "0085"
branch_labels = None
depends_on = None

# A deed at a node for members by their numbers, each in a visit, decided `at` a time. It is unfolded into an action
# for each, and deleted in the same transaction. `id` is drawn by chance.
DEED = """
create table {at}journey_deed (
    journey text collate "C" not null,
    at timestamptz not null,
    id bigint not null,
    version integer not null,
    node integer not null,
    turn integer not null,
    arm text,
    members integer[] not null,
    visits integer[] not null,
    constraint journey_deed_pkey primary key (journey, at, id)
);
grant select, insert, delete, update (id) on {at}journey_deed to abacus_app
"""


def _slices() -> int:
    return op.get_bind().scalar(sa.text("select count(*) from slice")) or 0


def _schemas(slices: int) -> Sequence[str]:
    return [f"slice_{number}" for number in range(slices)]


def _make(at: str) -> None:
    for statement in DEED.format(at=at).split(";\n"):
        op.execute(statement)


def before(_slices: int) -> None:
    """Nothing has to be there first."""


def in_slice(number: int, _slices: int) -> None:
    _make(f"slice_{number}.")


def upgrade() -> None:
    if not (slices := _slices()):
        _make("")
        return
    rows = " union all ".join(f"select * from {schema}.journey_deed" for schema in _schemas(slices))
    op.execute(f"create view public.journey_deed as {rows}")
    op.execute("grant select on public.journey_deed to abacus_app")


def downgrade() -> None:
    slices = _slices()
    if slices:
        op.execute("drop view public.journey_deed")
    for schema in _schemas(slices):
        op.execute(f"drop table {schema}.journey_deed")
    if not slices:
        op.execute("drop table journey_deed")
