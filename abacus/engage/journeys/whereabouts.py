"""Where a member is in a journey, how it came there by which decisions, what was done for it, and why it did not enter.

The trail has a row for each pack. It keeps the values that were looked up, and a walk is pure: it is walked again.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

import orjson

from abacus.core.errors import SetAside
from abacus.core.fields import DocumentFaults
from abacus.core.ids import journey_effect_key
from abacus.engage.journeys.armed_versions import ArmedVersions
from abacus.engage.journeys.decide.context import read_context
from abacus.engage.journeys.decide.effects import kind_of
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.node import Do
from abacus.engage.journeys.decide.retrace import retraced
from abacus.engage.journeys.decide.seat import Seat
from abacus.engage.journeys.decide.visit import Left, Place, Seen, Visitor, Woken
from abacus.engage.journeys.decide.walk import Walk
from abacus.engage.journeys.late_rows import Undecided, undecided_of
from abacus.engage.journeys.places import waits_at
from abacus.engage.journeys.refusal_rows import Refusal, refusal_of
from abacus.engage.journeys.seat_rows import Stay, stays_of
from abacus.engage.journeys.trail_rows import Passage, passed
from abacus.platform import slices
from abacus.platform.postgres import LONG_S, Connection, Pool
from abacus.platform.sql import Statement

_VISITS: Final = 20  # that are told
_DUE: Final = Statement("""
select node, due from pack
where journey = :journey and version = :version and node = :node and :member = any(members)
    and exists(select from unnest(members, visits) as u (member, visit) where member = :member and visit = :visit)
order by due desc limit 1
""")
_DONE: Final = Statement("""
select step as node, kind, key, decided_at,
    case when done_at is not null then 'done' when refused_at is not null then 'refused' else 'waiting' end as state,
    reason
from action
where member_id = :member_id and owner_kind = 'journey' and owner = :journey and key like :prefix
order by decided_at, key
""")
# What was decided for members together and is no action yet, and what cannot be made one.
_NOT_MADE: Final = Statement("""
select u.visit, d.version, d.node, d.turn, d.at, 'waiting', null
from journey_deed d cross join lateral unnest(d.members, d.visits) as u (member, visit)
where d.journey = :journey and :member = any(d.members) and u.member = :member
union all
select visit, version, node, turn, at, 'set aside', fault from journey_deed_aside
where member_id = :member_id and journey = :journey
order by 5, 3, 4
""")


class Stop(NamedTuple):
    """A node that the member went through, the way that it took, and what was looked at for that."""

    node: str
    way: str
    seen: Sequence[Seen]


class Step(NamedTuple):
    """A move: what woke the member, the nodes that it went through, why deeds there were not done, and where it waits
    then or why it left, with what was looked at for that.
    """

    at: datetime
    woken: str
    stops: Sequence[Stop]
    not_done: str | None
    waits: str | None
    left: str | None
    seen: Sequence[Seen]


class Done(NamedTuple):
    """What was decided for the member at a node, and what became of it: done, refused, waiting, or set aside."""

    node: str
    kind: str
    key: str
    decided_at: datetime
    state: str
    reason: str | None


class VisitOf(NamedTuple):
    """A visit. Who is inside waits at a node, until it is `due` at the latest."""

    visit: int
    version: int
    entered_at: datetime
    arm: str | None
    converted_at: datetime | None
    left_at: datetime | None
    why: str | None
    waits: str | None
    due: datetime | None
    steps: Sequence[Step]
    done: Sequence[Done]


class Whereabouts(NamedTuple):
    """The visits of a member, the first first, the last reason for which it did not enter, and what came by which it
    may enter yet.
    """

    visits: Sequence[VisitOf]
    refusal: Refusal | None
    undecided: Sequence[Undecided] = ()


async def whereabouts(
    pool: Pool, versions: ArmedVersions, history: Sequence[Journey], member_id: str, now: datetime
) -> Whereabouts:
    """In a journey, whose versions these are. Raises `Unavailable`."""
    journey = history[-1].name
    names = {node.number: name for version in history for name, node in version.nodes.items()}
    async with slices.at(pool, member_id) as connection:
        stays = await stays_of(connection, journey, member_id, _VISITS)
        trails = [await passed(connection, each.seat, each.left_at or now) for each in stays]
        not_made = await _not_made(connection, history, stays)
        done = [[*await _done(connection, each.seat, names), *not_made.get(each.seat.visit, ())] for each in stays]
        due = [
            await _due(connection, each.seat, _waits_at(each, trail)) for each, trail in zip(stays, trails, strict=True)
        ]
        refusal = await refusal_of(connection, journey, member_id)
        undecided = await undecided_of(connection, journey, member_id)
    retracing = _Retracing(versions, names)
    visits = [
        VisitOf(
            visit=stay.seat.visit,
            version=stay.seat.version,
            entered_at=stay.seat.entered_at,
            arm=stay.seat.arm,
            converted_at=stay.converted_at,
            left_at=stay.left_at,
            why=stay.why,
            waits=_name(_waits_at(stay, trail), names),
            due=until,
            steps=await retracing.steps(stay.seat, trail),
            done=of_visit,
        )
        for stay, trail, until, of_visit in zip(stays, trails, due, done, strict=True)
    ]
    return Whereabouts(visits, refusal, undecided)


def _waits_at(stay: Stay, trail: Sequence[Passage]) -> int | None:
    return waits_at(stay.seat, trail) if stay.left_at is None else None


def _name(number: int | None, names: Mapping[int, str]) -> str | None:
    return None if number is None else names.get(number, str(number))


async def _due(connection: Connection, seat: Seat, node: int | None) -> datetime | None:
    if node is None:
        return None
    asked = _DUE(journey=seat.journey, version=seat.version, node=node, member=seat.member, visit=seat.visit)
    row = await connection.fetchrow(*asked, timeout=LONG_S)
    return None if row is None else row["due"]


async def _done(connection: Connection, seat: Seat, names: Mapping[int, str]) -> Sequence[Done]:
    prefix = _escaped(f"journey:{seat.journey}:{seat.visit}:{seat.member_id}:")
    rows = await connection.fetch(*_DONE(member_id=seat.member_id, journey=seat.journey, prefix=f"{prefix}%"))
    return [Done(names.get(row["node"], str(row["node"])), *row[1:]) for row in rows]


async def _not_made(
    connection: Connection, history: Sequence[Journey], stays: Sequence[Stay]
) -> Mapping[int, Sequence[Done]]:
    """By visit."""
    if not stays:
        return {}
    seat, found = stays[0].seat, dict[int, list[Done]]()
    nodes = {(each.version, node.number): node for each in history for node in each.nodes.values()}
    asked = _NOT_MADE(journey=seat.journey, member=seat.member, member_id=seat.member_id)
    for visit, version, number, turn, at, state, reason in await connection.fetch(*asked, timeout=LONG_S):
        key = journey_effect_key(seat.journey, visit, seat.member_id, number, turn)
        node = nodes[version, number]
        kind = kind_of(node.part.deed) if isinstance(node.part, Do) else ""
        found.setdefault(visit, []).append(Done(node.name, kind, key, at, state, reason))
    return found


def _escaped(text: str) -> str:
    """For `like`."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


class _Retracing:
    """Walks the ways of members again."""

    def __init__(self, versions: ArmedVersions, names: Mapping[int, str]) -> None:
        self._versions = versions
        self._names = names

    async def steps(self, seat: Seat, trail: Sequence[Passage]) -> list[Step]:
        steps: list[Step] = []
        arm: str | None = None
        since = seat.entered_at
        for passage in trail:
            step, arm = await self._step(seat, passage, since, arm)
            steps.append(step)
            since = passage.at
        return steps

    async def _step(self, seat: Seat, passage: Passage, since: datetime, arm: str | None) -> tuple[Step, str | None]:
        walk = await self._walk(seat, passage, since, arm)
        told = Step(
            passage.at,
            passage.woken or "",
            [Stop(self._names.get(each, str(each)), "", ()) for each in passage.path],
            passage.not_done,
            _name(passage.to_node, self._names),
            passage.why,
            (),
        )
        if walk is None or [each.node.number for each in walk.trail] != list(passage.path):
            return told, arm
        stops = [Stop(each.node.name, each.way, each.seen) for each in walk.trail]
        seen = walk.stop.seen if isinstance(walk.stop, Left) else ()
        return told._replace(stops=stops, seen=seen), walk.arm

    async def _walk(self, seat: Seat, passage: Passage, since: datetime, arm: str | None) -> Walk | None:
        """None where it cannot be walked again; so of who was fetched out of a wait only the reason is told."""
        if passage.woken is None or not (passage.path or passage.woken == Woken.ENTERED):
            return None
        try:
            armed, facts = await self._versions.of(seat.journey, passage.version), self._versions.event_of(seat)
            context = {} if seat.context is None else read_context(orjson.loads(seat.context), armed.journey.context)
        except (SetAside, DocumentFaults):  # the version does not fit what is published now
            return None
        woken, visitor = Woken(passage.woken), Visitor(seat.member_id, seat.visit, facts, context, arm=arm)
        place, skips = None, passage.not_done is not None
        if woken is not Woken.ENTERED and passage.node is not None:
            place = Place(passage.node, passage.turn or 0, since)
        return retraced(armed, visitor, passage.at, woken=woken, place=place, looked=passage.looked, skips=skips)


def where_document(journey: str, member_id: str, found: Whereabouts) -> dict[str, Any]:
    """Where a member is, as JSON."""
    refusal = found.refusal
    return {
        "journey": journey,
        "member_id": member_id,
        "visits": [_visit_document(each) for each in found.visits],
        "not_entered": None
        if refusal is None
        else {
            "version": refusal.version,
            "at": refusal.at,
            "why": refusal.why,
            "conditions": [each._asdict() for each in refusal.seen],
        },
        "undecided": [each._asdict() for each in found.undecided],
    }


def _visit_document(visit: VisitOf) -> dict[str, Any]:
    steps = [
        {
            "at": each.at,
            "woken": each.woken,
            "trail": [
                {"node": stop.node, "way": stop.way, "conditions": [one._asdict() for one in stop.seen]}
                for stop in each.stops
            ],
            "not_done": each.not_done,
            "waits": each.waits,
            "left": each.left,
            "conditions": [one._asdict() for one in each.seen],
        }
        for each in visit.steps
    ]
    return {**visit._asdict(), "steps": steps, "done": [each._asdict() for each in visit.done]}
