"""Events that move members of journeys can wait, as entries do; and seats have room for their end on their page."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision = "0096"
down_revision = "0095"
branch_labels = None
depends_on = None

# With half of a page free every tenth seat found no room there: its end is longer than what it was before.
IN_PLACE = "alter table {at}seat set (fillfactor = 45)"
BEFORE = "alter table {at}seat set (fillfactor = 50)"

# An event that `moves` a member who is inside may let the same member in by its key, too. Whether any waits in a
# journey is asked with each step.
TABLE = "journey_entry_aside"
MOVES = """
alter table {at}journey_entry_aside add column moves boolean not null default false;
alter table {at}journey_entry_aside drop constraint journey_entry_aside_pkey;
alter table {at}journey_entry_aside add constraint journey_entry_aside_pkey
    primary key (member_id, journey, key, moves);
create index journey_entry_aside_journey_idx on {at}journey_entry_aside (journey) where moves
"""
MOVES_NOTHING = """
drop index {at}journey_entry_aside_journey_idx;
delete from {at}journey_entry_aside where moves;
alter table {at}journey_entry_aside drop constraint journey_entry_aside_pkey;
alter table {at}journey_entry_aside add constraint journey_entry_aside_pkey primary key (member_id, journey, key);
alter table {at}journey_entry_aside drop column moves
"""


def _slices() -> Sequence[str]:
    count = op.get_bind().scalar(sa.text("select count(*) from slice")) or 0
    return [f"slice_{number}" for number in range(count)]


def _do(statements: str, at: str) -> None:
    for each in statements.format(at=at).split(";\n"):
        op.execute(each)


def _view(slices: Sequence[str]) -> None:
    rows = " union all ".join(f"select * from {schema}.{TABLE}" for schema in slices)
    op.execute(f"create or replace view public.{TABLE} as {rows}")
    op.execute(f"grant select on public.{TABLE} to abacus_app")


def before(_slices: int) -> None:
    """Nothing has to be there first."""


def in_slice(number: int, _slices: int) -> None:
    _do(IN_PLACE, f"slice_{number}.")
    _do(MOVES, f"slice_{number}.")


def upgrade() -> None:
    if slices := _slices():
        _view(slices)
    else:
        _do(IN_PLACE, "")
        _do(MOVES, "")


def downgrade() -> None:
    slices = _slices()
    if slices:
        op.execute(f"drop view public.{TABLE}")
    for at in [f"{schema}." for schema in slices] or [""]:
        _do(MOVES_NOTHING, at)
        _do(BEFORE, at)
    if slices:
        _view(slices)
