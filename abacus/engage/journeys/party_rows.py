"""The seats of members who go on together, by the numbers of members, in their slice.

Seats are read as arrays and written by one statement for all who wait for the same, or leave for the same reason: to
read and to write each as a row of its own cost more than all the rest of a step.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import repeat
from typing import Final, NamedTuple

from abacus.engage.journeys.decide.packs import Pack
from abacus.engage.journeys.decide.seat import Leaves, Party, Seated, Went
from abacus.engage.journeys.held_rows import ARE_HELD, held_among
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement, numbered, numbers

_MEMBERS: Final = numbered("members")
_SEATS: Final = Statement(f"""
select array_agg(member) as members, array_agg(visit) as visits, array_agg(member_id) as ids,
    array_agg(version) as versions, {ARE_HELD} as are_held
from seat where journey = :journey and member = any({_MEMBERS}) and left_at is null and node is null
""")

# In the order in which all lock seats of a journey: an update by itself promises none, and each is of some of them.
_LOCK: Final = Statement(f"""
select from seat where journey = :journey and member = any({_MEMBERS}) and left_at is null and node is null
order by journey, member, visit for no key update
""")
_WRITE: Final = Statement(f"""
with written as (
    update seat set node = :node, turn = :turn, arm = :arm, since = :since, why = :why,
        left_at = case when :why::text is not null then :now::timestamptz end
    where journey = :journey and member = any({_MEMBERS}) and visit = :visit and version = :version
        and left_at is null and node is null
    returning member
) select array_agg(member) from written
""")


class _Written(NamedTuple):
    """What is written of seats."""

    journey: str
    version: int
    visit: int
    node: int | None
    turn: int | None
    arm: str | None
    since: datetime
    why: str | None


class Parties(NamedTuple):
    """Members who go on, and members who are held where they are."""

    going: Sequence[Party]
    held: Sequence[Seated]


async def parties_of(connection: Connection, packs: Sequence[Pack]) -> Parties:
    """The members of packs of one journey who still wait for what these are for. Packs await no event."""
    them = {member for each in packs for member in each.members}
    row = await connection.fetchrow(*_SEATS(journey=packs[0].journey, members=numbers(sorted(them))))
    there, held = dict[tuple[int, int, int], Seated](), list[Seated]()
    if row is not None and row["members"] is not None:
        members, visits, ids, versions, are_held = row.values()
        there.update(zip(zip(members, visits, versions, strict=True), map(Seated, members, visits, ids), strict=True))
        if are_held and (names := await held_among(connection, packs[0].journey, ids)):
            held = [each for each in there.values() if each.member_id in names]
            there = {place: each for place, each in there.items() if each.member_id not in names}
    going = [
        Party(
            each.journey,
            each.version,
            each.node,
            each.turn,
            each.arm,
            each.due,
            [*filter(None, map(there.get, zip(each.members, each.visits, repeat(each.version), strict=False)))],
        )
        for each in packs
    ]
    return Parties(going, held)


async def write_seats_of(connection: Connection, went: Sequence[Went], now: datetime) -> list[Went]:
    """Writes the seats of members who leave, or wait for an event. A member who left meanwhile is not among them."""
    by_written: dict[_Written, list[int]] = {}
    for each in went:
        for visit, members in _by_visit(each).items():
            by_written.setdefault(_written(each, visit, now), []).extend(members)
    if len(by_written) > 1:
        journey, members = went[0].party.journey, sorted({each for some in by_written.values() for each in some})
        await connection.execute(*_LOCK(journey=journey, members=numbers(members)))
    gone: set[tuple[int, int]] = set()
    for written, some in by_written.items():
        values = {**written._asdict(), "members": numbers(sorted(some)), "now": now}
        there = await connection.fetchval(*_WRITE(**values)) or ()
        if len(there) < len(some):
            gone |= {(member, written.visit) for member in {*some}.difference(there)}
    return [_without(each, gone) for each in went] if gone else list(went)


def _by_visit(went: Went) -> Mapping[int, list[int]]:
    """The numbers of members whose seats are written, by the numbers of their visits."""
    members: defaultdict[int, list[int]] = defaultdict(list)
    if went.is_written:
        for member, visit, _ in went.seats:
            members[visit].append(member)
    return members


def _written(went: Went, visit: int, now: datetime) -> _Written:
    journey, version = went.party.journey, went.party.version
    then, arm = went.then, went.arm
    if isinstance(then, Leaves):
        return _Written(journey, version, visit, None, None, arm, now, then.why)
    if then.awaits:
        return _Written(journey, version, visit, then.node, then.turn, arm, then.since or now, None)
    return _Written(journey, version, visit, None, None, arm, now, None)


def _without(went: Went, gone: Iterable[tuple[int, int]]) -> Went:
    left = frozenset(gone)
    there = [place for place, each in enumerate(went.seats) if (each.member, each.visit) not in left]
    looked_up = [went.looked_up[place] for place in there] if went.looked_up else ()
    return went._replace(seats=[went.seats[place] for place in there], looked_up=looked_up)
