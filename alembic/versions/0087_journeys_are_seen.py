"""What people see of journeys: sums by node and day, why a member did not enter, and packs that were set aside."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision = "0087"
down_revision = "0086"
branch_labels = None
depends_on = None

# `to_node` is where members wait then. `looked` has the values that were looked up, an array for each left side in the
# order of the members. A visit is converted by the event of the goal.
COLUMNS = """
alter table {at}journey_trail add column woken text, add column to_node integer,
    add column looked json;
alter table {at}seat add column converted_at timestamptz;
grant update (converted_at) on {at}seat to abacus_app
"""

# Members by what happened to them at a node, on a day of the journey's zone. The node 0 stands for a wait that nobody
# could tell. Writers that come at once take different slots.
SUM = """
create table {at}journey_sum (
    journey text collate "C" not null,
    version integer not null,
    day date not null,
    node integer not null,
    arm text not null,
    outcome text not null,
    why text not null,
    slot integer not null,
    members bigint not null,
    constraint journey_sum_pkey primary key (journey, version, day, node, arm, outcome, why, slot)
) with (fillfactor = 70);
grant select, insert, update (members) on {at}journey_sum to abacus_app
"""

# The last reason for which a member did not enter. `seen` has the conditions that were looked at, with their values.
REFUSAL = """
create table {at}journey_refusal (
    member_id text collate "C" not null,
    journey text collate "C" not null,
    version integer not null,
    at timestamptz not null,
    why text not null,
    seen json,
    constraint journey_refusal_pkey primary key (member_id, journey)
);
grant select, insert, delete, update (version, at, why, seen) on {at}journey_refusal to abacus_app
"""

# A pack whose members cannot be moved, with the fault. It goes back among the packs by command.
ASIDE = """
create table {at}pack_aside (
    journey text collate "C" not null,
    id bigint not null,
    awaits boolean not null,
    due timestamptz not null,
    version integer not null,
    node integer not null,
    turn integer not null,
    zone text not null,
    arm text,
    members integer[] not null,
    visits integer[] not null,
    fault text not null,
    set_aside_at timestamptz not null,
    constraint pack_aside_pkey primary key (journey, id)
);
grant select, insert, delete on {at}pack_aside to abacus_app
"""

TABLES = {"journey_sum": SUM, "journey_refusal": REFUSAL, "pack_aside": ASIDE}
GUARDED = "journey_refusal"
CHANGED = ("journey_trail", "seat")


def _slices() -> Sequence[str]:
    count = op.get_bind().scalar(sa.text("select count(*) from slice")) or 0
    return [f"slice_{number}" for number in range(count)]


def _do(statements: str) -> None:
    for each in statements.split(";\n"):
        op.execute(each)


def _make(at: str) -> None:
    _do(COLUMNS.format(at=at))
    for table in TABLES.values():
        _do(table.format(at=at))


def _views(slices: Sequence[str], *tables: str) -> None:
    for table in tables:
        rows = " union all ".join(f"select * from {schema}.{table}" for schema in slices)
        op.execute(f"create or replace view public.{table} as {rows}")
        op.execute(f"grant select on public.{table} to abacus_app")


def before(_slices: int) -> None:
    """Nothing has to be there first."""


def in_slice(number: int, slices: int) -> None:
    _make(f"slice_{number}.")
    op.execute(
        f"create trigger {GUARDED}_is_of_this_slice before insert or update of member_id on slice_{number}.{GUARDED}"
        f" for each row when (abacus_slice_of(new.member_id, {slices}) <> {number})"
        " execute function abacus_refuse_stranger()"
    )


def upgrade() -> None:
    if slices := _slices():
        _views(slices, *CHANGED, *TABLES)
    else:
        _make("")


def downgrade() -> None:
    slices = _slices()
    for table in (*TABLES, *CHANGED) if slices else ():
        op.execute(f"drop view public.{table}")
    for at in [f"{schema}." for schema in slices] or [""]:
        for table in reversed(TABLES):
            op.execute(f"drop table {at}{table}")
        op.execute(f"alter table {at}seat drop column converted_at")
        op.execute(f"alter table {at}journey_trail drop column looked, drop column to_node, drop column woken")
    if slices:
        _views(slices, *CHANGED)
