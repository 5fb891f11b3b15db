"""Deeds of journeys that cannot be made are set aside, with the fault."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision = "0089"
down_revision = "0088"
branch_labels = None
depends_on = None

# A deed at a node for one member, decided `at` a time. It goes back among the deeds by command.
TABLE = "journey_deed_aside"
ASIDE = """
create table {at}journey_deed_aside (
    member_id text collate "C" not null,
    journey text collate "C" not null,
    visit integer not null,
    node integer not null,
    turn integer not null,
    member integer not null,
    version integer not null,
    arm text,
    at timestamptz not null,
    fault text not null,
    set_aside_at timestamptz not null,
    constraint journey_deed_aside_pkey primary key (member_id, journey, visit, node, turn)
);
grant select, insert, delete on {at}journey_deed_aside to abacus_app
"""


def _slices() -> Sequence[str]:
    count = op.get_bind().scalar(sa.text("select count(*) from slice")) or 0
    return [f"slice_{number}" for number in range(count)]


def _make(at: str) -> None:
    for statement in ASIDE.format(at=at).split(";\n"):
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
    if slices := _slices():
        rows = " union all ".join(f"select * from {schema}.{TABLE}" for schema in slices)
        op.execute(f"create view public.{TABLE} as {rows}")
        op.execute(f"grant select on public.{TABLE} to abacus_app")
    else:
        _make("")


def downgrade() -> None:
    if slices := _slices():
        op.execute(f"drop view public.{TABLE}")
    for at in [f"{schema}." for schema in slices] or [""]:
        op.execute(f"drop table {at}{TABLE}")
