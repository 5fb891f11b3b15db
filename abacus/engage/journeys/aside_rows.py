"""What was set aside with its fault, in the slice of the members: packs of members who cannot be moved, deeds that
cannot be made, each for one member, and entries and events that cannot be decided.
"""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

from abacus.engage.journeys.decide.packs import LARGEST, Pack
from abacus.engage.journeys.decide.seat import Seat
from abacus.engage.journeys.decide.ways import NOWHERE
from abacus.engage.journeys.deed_rows import DeedRow
from abacus.engage.journeys.pack_rows import INSIDE
from abacus.platform import slices
from abacus.platform.postgres import Connection, Pool, snapshot
from abacus.platform.sql import Statement, arrays, columns, unnested

_LONGEST_FAULT: Final = 1000  # characters
_COLUMNS: Final = (*Pack._fields, "fault", "set_aside_at")


class What(StrEnum):
    """What is set aside of a member."""

    WAIT = "wait"  # it cannot be moved on
    DEED = "deed"  # it cannot be done
    ENTRY = "entry"  # it cannot be decided
    EVENT = "event"  # whether it moves the member cannot be decided


class Aside(NamedTuple):
    """Members who are set aside at a node, since when, and why. `what` cannot be done for them."""

    journey: str
    version: int
    node: int
    what: What
    fault: str
    since: datetime
    members: int


class PackAside(NamedTuple):
    """A pack with its fault, and since when it is set aside."""

    pack: Pack
    fault: str
    since: datetime


class InsideAside(NamedTuple):
    """How many members of packs that are set aside still wait for what their pack is for."""

    node: int
    arm: str | None
    inside: int


class _DeedAside(NamedTuple):
    """A deed for one member that cannot be made."""

    member_id: str
    journey: str
    visit: int
    node: int
    turn: int
    member: int
    version: int
    arm: str | None
    at: datetime
    fault: str
    set_aside_at: datetime


_TAKE: Final = Statement("""
select from pack where journey = :journey and awaits = :awaits and due = :due and id = :id for update skip locked
""")
_PUT_BACK: Final = Statement(f"""
with back as (delete from pack_aside where journey = :journey returning {columns(Pack)})
insert into pack ({columns(Pack)}) select {columns(Pack)} from back returning cardinality(members)
""")
_OF_VERSION: Final = Statement(f"""
select node, arm, sum({INSIDE})::bigint from pack_aside p where journey = :journey and version = :version
group by node, arm
""")
_TAKE_OF_VERSION: Final = Statement(f"""
delete from pack_aside where journey = :journey and id = (
    select id from pack_aside where journey = :journey and version = :version limit 1
) returning {columns(Pack)}, fault, set_aside_at
""")
# An earlier decision of the same is there already, where a member was moved back and through the node again.
_SET_DEEDS_ASIDE: Final = Statement(f"""
insert into journey_deed_aside ({columns(_DeedAside)})
select u.* from {
    unnested(_DeedAside, visit="integer", node="integer", turn="integer", member="integer", version="integer")
}
order by u.member_id, u.visit on conflict do nothing
""")
_ALIKE: Final = "journey, at, version, node, turn, arm"
_PUT_DEEDS_BACK: Final = Statement(f"""
with back as (
    delete from journey_deed_aside where journey = :journey returning {_ALIKE}, member, visit
), numbered as (
    select *, (row_number() over (partition by {_ALIKE} order by member, visit) - 1) / {LARGEST} as part from back
)
insert into journey_deed ({_ALIKE}, id, members, visits)
select {_ALIKE}, floor(random() * 9223372036854775807)::bigint, array_agg(member order by member, visit),
    array_agg(visit order by member, visit)
from numbered group by {_ALIKE}, part returning cardinality(members)
""")
_PUT_ENTRIES_BACK: Final = Statement("""
update journey_entry_aside set due_at = :now, tries = 0 where journey = :journey and due_at is null returning 1
""")
_ASIDE: Final = Statement(f"""
select journey, version, node, '{What.WAIT}', fault, min(set_aside_at), sum(cardinality(members))::bigint
from pack_aside where :journey::text is null or journey = :journey group by journey, version, node, fault
union all
select journey, version, node, '{What.DEED}', fault, min(set_aside_at), count(*)
from journey_deed_aside where :journey::text is null or journey = :journey group by journey, version, node, fault
union all
select journey, version, {NOWHERE}, case when moves then '{What.EVENT}' else '{What.ENTRY}' end, fault,
    min(set_aside_at), count(*)
from journey_entry_aside where due_at is null and (:journey::text is null or journey = :journey)
group by journey, version, moves, fault
""")


async def take_one(connection: Connection, pack: Pack) -> bool:
    """Whether the pack is there and nobody else has taken it; it is locked until the transaction ends."""
    taken = _TAKE(journey=pack.journey, awaits=pack.awaits, due=pack.due, id=pack.id)
    return bool(await connection.fetch(*taken))


async def set_aside(connection: Connection, packs: Iterable[tuple[Pack, str]], now: datetime) -> None:
    """Packs, each with its fault."""
    rows = [(*pack, _told(fault), now) for pack, fault in packs]
    if rows:
        await connection.copy_records_to_table("pack_aside", records=rows, columns=_COLUMNS)


async def inside_aside(connection: Connection, journey: str, version: int) -> list[InsideAside]:
    """Members of a version who are set aside."""
    return [InsideAside(*row) for row in await connection.fetch(*_OF_VERSION(journey=journey, version=version))]


async def take_aside(connection: Connection, journey: str, version: int) -> PackAside | None:
    """A pack of a version that was set aside; it is gone with the transaction. None where there is none, or somebody
    else has just taken it.
    """
    row = await connection.fetchrow(*_TAKE_OF_VERSION(journey=journey, version=version))
    return None if row is None else PackAside(Pack(*tuple(row)[:-2]), *tuple(row)[-2:])


async def set_deeds_aside(connection: Connection, deeds: Iterable[tuple[DeedRow, Seat, str]], now: datetime) -> None:
    """Deeds, each for a member by its seat, with the fault."""
    rows = [
        _DeedAside(
            seat.member_id,
            deed.journey,
            seat.visit,
            deed.node,
            deed.turn,
            seat.member,
            deed.version,
            deed.arm,
            deed.at,
            _told(fault),
            now,
        )
        for deed, seat, fault in deeds
    ]
    if rows:
        await connection.execute(*_SET_DEEDS_ASIDE(**arrays(_DeedAside, rows)))


def _told(fault: str) -> str:
    return fault.replace("\0", "")[:_LONGEST_FAULT]


async def put_back(pool: Pool, journey: str, now: datetime) -> int:
    """All of a journey go on, from packs that were due at once, and what could not be done for them or decided is tried
    again; how many times a member was set aside. Raises `Unavailable`.
    """

    async def work(slice_: slices.Slice) -> int:
        async with slice_.at() as connection, slices.in_place(connection):
            back = [
                *await connection.fetch(*_PUT_BACK(journey=journey)),
                *await connection.fetch(*_PUT_DEEDS_BACK(journey=journey)),
                *await connection.fetch(*_PUT_ENTRIES_BACK(journey=journey, now=now)),
            ]
            return sum(row[0] for row in back)

    return sum((await slices.everywhere(pool, work, patience_s=None)).whole())


async def aside(pool: Pool, journey: str | None = None) -> list[Aside]:
    """Of one journey, or of all. Raises `Unavailable`."""
    async with snapshot(pool) as connection:
        rows = await slices.rows_on(connection, _ASIDE(journey=journey))
    found: dict[tuple[object, ...], Aside] = {}
    for journey_, version, node, what, *rest in rows:
        each = Aside(journey_, version, node, What(what), *rest)
        before = found.get(each[:5])
        found[each[:5]] = (
            each
            if before is None
            else each._replace(since=min(each.since, before.since), members=each.members + before.members)
        )
    return [found[key] for key in sorted(found, key=str)]
