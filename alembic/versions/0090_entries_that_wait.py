"""Entries of journeys that could not be decided wait beside their topic or wave, and are set aside in the end."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision = "0090"
down_revision = "0089"
branch_labels = None
depends_on = None

# What would bring a member in, `at` a time, and why it could not be decided. It is tried again when it is due; one that
# is not due any more was tried in vain, and goes back among the others by command.
TABLE = "journey_entry_aside"
ASIDE = """
create table {at}journey_entry_aside (
    member_id text collate "C" not null,
    journey text collate "C" not null,
    key text collate "C" not null,
    version integer not null,
    at timestamptz not null,
    event json,
    context json,
    tries integer not null,
    due_at timestamptz,
    fault text not null,
    set_aside_at timestamptz not null,
    constraint journey_entry_aside_pkey primary key (member_id, journey, key)
);
create index journey_entry_aside_journey_due_at_idx on {at}journey_entry_aside (journey, due_at);
grant select, insert, delete, update (version, tries, due_at, fault, set_aside_at) on {at}journey_entry_aside
    to abacus_app
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
