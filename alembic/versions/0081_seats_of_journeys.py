"""Members have seats in journeys, and who waits for the same waits in one pack."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision = "0081"
down_revision = "0077"
branch_labels = None
depends_on = None

# A visit of a member. `member` is the member's number, which packs and the trail name; `key` that of the entry, and
# `event` the event of it. `node`, `turn` and `arm` are there while an event is waited for. Written at the entry, at
# such a wait and at the end.
SEAT = """
create table {at}seat (
    member_id text collate "C" not null,
    journey text collate "C" not null,
    visit integer not null,
    member integer not null,
    version integer not null,
    key text collate "C" not null,
    country text collate "C" not null,
    entered_at timestamptz not null,
    node integer,
    turn integer,
    arm text,
    since timestamptz not null,
    value text,
    context json,
    event json,
    left_at timestamptz,
    why text,
    constraint seat_pkey primary key (member_id, journey, visit)
);
create index seat_journey_member_visit_idx on {at}seat (journey, member, visit);
grant select, insert, update (version, node, turn, arm, since, left_at, why) on {at}seat to abacus_app
"""

# The schedule: members by their numbers, at most 500, who wait for the same. `awaits`: for an event or the time. `id`
# is drawn by chance. A pack that was run is deleted.
PACK = """
create table {at}pack (
    journey text collate "C" not null,
    awaits boolean not null,
    due timestamptz not null,
    id bigint not null,
    version integer not null,
    node integer not null,
    turn integer not null,
    zone text not null,
    arm text,
    members integer[] not null,
    visits integer[] not null,
    constraint pack_pkey primary key (journey, awaits, due, id)
);
grant select, insert, delete, update (id) on {at}pack to abacus_app
"""

# Where members came through together: from a node over others to a wait, or to the end with its reason. Who is fetched
# out of a wait by an event that ends the visit came from no node.
TRAIL = """
create table {at}journey_trail (
    journey text collate "C" not null,
    at timestamptz not null,
    id bigint not null,
    version integer not null,
    node integer,
    turn integer,
    path integer[] not null,
    why text,
    members integer[] not null,
    visits integer[] not null,
    constraint journey_trail_pkey primary key (journey, at, id)
);
grant select, insert on {at}journey_trail to abacus_app
"""

TABLES = {"seat": SEAT, "pack": PACK, "journey_trail": TRAIL}
GUARDED = "seat"

# Up to when the events of a partition were read, by the broker's time.
HEARD = """
create table journey_heard (
    topic text collate "C" not null,
    partition integer not null,
    upto timestamptz not null,
    constraint journey_heard_pkey primary key (topic, partition)
);
grant select, insert, update (upto) on journey_heard to abacus_app
"""


def _slices() -> int:
    return op.get_bind().scalar(sa.text("select count(*) from slice")) or 0


def _schemas(slices: int) -> Sequence[str]:
    return [f"slice_{number}" for number in range(slices)]


def _do(script: str) -> None:
    for statement in script.split(";\n"):
        op.execute(statement)


def _make(at: str) -> None:
    for table in TABLES.values():
        _do(table.format(at=at))


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
    _do(HEARD)
    if not (slices := _slices()):
        _make("")
        return
    for table in TABLES:
        rows = " union all ".join(f"select * from {schema}.{table}" for schema in _schemas(slices))
        op.execute(f"create view public.{table} as {rows}")
        op.execute(f"grant select on public.{table} to abacus_app")


def downgrade() -> None:
    slices = _slices()
    for table in reversed(TABLES):
        if slices:
            op.execute(f"drop view public.{table}")
        for schema in _schemas(slices):
            op.execute(f"drop table {schema}.{table}")
        if not slices:
            op.execute(f"drop table {table}")
    op.execute("drop table journey_heard")
