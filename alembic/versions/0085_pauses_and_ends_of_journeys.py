"""What a pause held up is known, and members of a version are found in their packs."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision = "0085"
down_revision = "0084"
branch_labels = None
depends_on = None

# Since when members go on after the last pause of a version, be it on that or on another one.
RESUME = """
create function abacus_resume_journey() returns trigger language plpgsql as $$
begin
    new.resumed_at := new.changed_at;
    return new;
end $$
"""
RESUMED = """
create trigger journey_is_resumed before update of status on journey
    for each row when (old.status = 'paused' and new.status <> 'paused') execute function abacus_resume_journey()
"""

# Why deeds on the way were not done. Members of a version that is over are found by the index.
IN_PLACE = """
alter table {at}journey_trail add column not_done text;
create index pack_journey_version_idx on {at}pack (journey, version)
"""


def _slices() -> Sequence[str]:
    count = op.get_bind().scalar(sa.text("select count(*) from slice")) or 0
    return [f"slice_{number}" for number in range(count)]


def _do(statements: str) -> None:
    for each in statements.split(";\n"):
        op.execute(each)


def _view(slices: Sequence[str]) -> None:
    rows = " union all ".join(f"select * from {schema}.journey_trail" for schema in slices)
    op.execute(f"create or replace view public.journey_trail as {rows}")
    op.execute("grant select on public.journey_trail to abacus_app")


def before(_slices: int) -> None:
    """Nothing has to be there first."""


def in_slice(number: int, _slices: int) -> None:
    _do(IN_PLACE.format(at=f"slice_{number}."))


def upgrade() -> None:
    op.execute("alter table journey add column resumed_at timestamptz")
    op.execute(RESUME)
    op.execute(RESUMED)
    if slices := _slices():
        _view(slices)
    else:
        _do(IN_PLACE.format(at=""))


def downgrade() -> None:
    slices = _slices()
    if slices:
        op.execute("drop view public.journey_trail")
    for at in [f"{schema}." for schema in slices] or [""]:
        op.execute(f"drop index {at}pack_journey_version_idx")
        op.execute(f"alter table {at}journey_trail drop column not_done")
    if slices:
        _view(slices)
    op.execute("drop trigger journey_is_resumed on journey")
    op.execute("drop function abacus_resume_journey()")
    op.execute("alter table journey drop column resumed_at")
