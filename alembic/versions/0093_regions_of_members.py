"""The regions that members are in, as their positions say, and the partners who may send positions."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision = "0093"
down_revision = "0092"
branch_labels = None
depends_on = None

# Whether a member is in a region, since when it is or is not, and when a position said so last; no coordinates. A row
# is written again while the member stays, in place, and deleted before it is a day old. Old rows are found by the hour:
# an index on the moment would have to be written each time.
TABLE = "member_region"
ROWS = """
create table {at}member_region (
    member_id text collate "C" not null,
    region text collate "C" not null,
    inside boolean not null,
    since timestamptz not null,
    seen_at timestamptz not null,
    seen_hour timestamptz not null,
    constraint member_region_pkey primary key (member_id, region)
) with (fillfactor = 70);
create index member_region_seen_hour_idx on {at}member_region (seen_hour);
grant select, insert, delete, update (inside, since, seen_at, seen_hour) on {at}member_region to abacus_app
"""


def _slices() -> int:
    return op.get_bind().scalar(sa.text("select count(*) from slice")) or 0


def _schemas(slices: int) -> Sequence[str]:
    return [f"slice_{number}" for number in range(slices)]


def _make(at: str) -> None:
    for statement in ROWS.format(at=at).split(";\n"):
        op.execute(statement)


def before(_slices: int) -> None:
    """Nothing has to be there first."""


def in_slice(number: int, slices: int) -> None:
    _make(f"slice_{number}.")
    op.execute(
        f"create trigger {TABLE}_is_of_this_slice before insert or update of member_id on slice_{number}.{TABLE}"
        f" for each row when (abacus_slice_of(new.member_id, {slices}) <> {number})"
        " execute function abacus_refuse_stranger()"
    )


def upgrade() -> None:
    op.execute("alter table partner add column may_send_positions boolean not null default false")
    op.execute("grant update (may_send_positions) on partner to abacus_app")
    if not (slices := _slices()):
        _make("")
        return
    rows = " union all ".join(f"select * from {schema}.{TABLE}" for schema in _schemas(slices))
    op.execute(f"create view public.{TABLE} as {rows}")
    op.execute(f"grant select on public.{TABLE} to abacus_app")


def downgrade() -> None:
    slices = _slices()
    if slices:
        op.execute(f"drop view public.{TABLE}")
    for schema in _schemas(slices):
        op.execute(f"drop table {schema}.{TABLE}")
    if not slices:
        op.execute(f"drop table {TABLE}")
    op.execute("alter table partner drop column may_send_positions")
