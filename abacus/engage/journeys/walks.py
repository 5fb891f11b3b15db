"""Members walk on through journeys to their next waits: all of them together, each on its own version.

Where a value cannot be told now, or a version does not fit what is published, members wait where they are and are
looked at again a little later. An event is tried again, and so is an entry.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Final, TypeAlias
from zoneinfo import ZoneInfo

import orjson
import structlog

from abacus.core.errors import SetAside
from abacus.core.fields import EARLIEST, DocumentFaults
from abacus.engage.actions.decide.deeds import Award
from abacus.engage.actions.types import PlannedAction
from abacus.engage.campaigns.decide.worth import needs_tier
from abacus.engage.journeys.armed_versions import ArmedVersions
from abacus.engage.journeys.asking import Asks, Occurs, Untold, ask
from abacus.engage.journeys.decide.armed import Armed, ArmedOccasion
from abacus.engage.journeys.decide.company import Company, Course, Stand, Wanting
from abacus.engage.journeys.decide.context import read_context
from abacus.engage.journeys.decide.effects import Standing, planned
from abacus.engage.journeys.decide.guest import Guest
from abacus.engage.journeys.decide.halts import Halts
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.lateness import why_not_done
from abacus.engage.journeys.decide.node import Rate
from abacus.engage.journeys.decide.seat import (
    Arrived,
    Done,
    Leaves,
    Moved,
    Parting,
    Party,
    Seated,
    Waits,
    Went,
    waits_on,
)
from abacus.engage.journeys.decide.visit import Left, Place, Visitor, Waiting, Why, Woken
from abacus.engage.journeys.decide.walk import NOT_DONE, Walk
from abacus.engage.journeys.facts import JourneySubject
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import BASE_TIER, PublishedCard
from abacus.signals.events.types import Event
from abacus.signals.facts.members import Look
from abacus.signals.facts.types import NOT_NOW, FactRegistry, Found
from abacus.signals.rules.decide.types import Origin, Side

_NO_EVENT: Final = Event("", "", "", None, None, EARLIEST, {})
_AWAITED: Final = frozenset({Why.EVENT, Why.RULE})

# Books turns one step apart, by the name of what is paced: the time of the first. Raises `Unavailable`.
Book: TypeAlias = Callable[[str, timedelta, datetime, int], Awaitable[datetime]]

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Member:
    """A member who goes on: the version, what is known of the member, and why deeds are `not_done`, if they are not."""

    arrived: Arrived
    armed: Armed
    visitor: Visitor
    subject: JourneySubject
    card: PublishedCard
    not_done: str | None

    def walk(self, woken: Woken, now: datetime) -> Walk:
        arrived, at, skips = self.arrived, None, self.not_done is not None
        if not arrived.enters and arrived.node is not None:
            at = Place(arrived.node, arrived.turn or 0, arrived.seat.since)
        return Walk(self.armed, self.visitor, now, at=at, woken=woken, skips=skips, tells=False)


class Walks:
    """Moves members, as `Go` says."""

    def __init__(
        self,
        versions: ArmedVersions,
        facts: FactRegistry[JourneySubject],
        *,
        tiers: Look[str],
        cards: Callable[[], CardBook],
        book: Book,
        halts: Callable[[], Halts],
    ) -> None:
        self._versions = versions
        self._facts = facts
        self._tiers = tiers
        self._cards = cards
        self._book = book
        self._halts = halts

    async def __call__(self, _: str, arrived: Sequence[Arrived], now: datetime) -> list[Moved]:
        """Raises `Unavailable`."""
        moved: list[Moved] = []
        members: list[_Member] = []
        waiting: list[tuple[Arrived, str]] = []
        faults: Counter[str] = Counter()
        halts = self._halts()
        for each in arrived:
            over = halts.why_over((each.seat.journey, each.seat.version), now)
            if over is not None:
                moved.append(Moved(each, (), (), Leaves(over)))
                continue
            try:
                members.append(await self._member(each, now))
            except (SetAside, DocumentFaults) as fault:
                faults[f"{each.seat.journey}@{each.seat.version}: {fault}"] += 1
                # To wait mends nothing of a member alone: an event does not move it, and others go on.
                if each.event is None or isinstance(fault, DocumentFaults):
                    waiting.append((each, str(fault)))
        for why, number in faults.items():
            log.warning("members wait in a journey", why=why, members=number)
        moved += _later(waiting, now)
        called = [each for each in members if each.arrived.event is not None]
        walking = [(each, _woken(each.arrived)) for each in members if each.arrived.event is None]
        for member, exit_ in await self._called(called):
            if exit_ is None:
                walking.append((member, Woken.EVENT))
            else:
                moved.append(Moved(member.arrived, (), (), Leaves(exit_)))
        return moved + await self._walked(walking, now)

    async def together(self, parties: Sequence[Party], now: datetime) -> Parting:
        """As `GoTogether` says."""
        went, singly, halts = list[Went](), list[Seated](), self._halts()
        stands: dict[tuple[str, int, Stand], tuple[Party, list[Seated]]] = {}
        for party in parties:
            try:
                armed = await self._versions.of(party.journey, party.version)
            except (SetAside, DocumentFaults):  # each waits, and says why
                singly += party.seats
                continue
            stand = Stand(party.node, party.turn, party.arm, now, self._not_done(armed.journey, party.due, now))
            of = party.journey, party.version, stand
            stands.setdefault(of, (party, []))[1].extend(party.seats)
        for (journey, version, stand), (party, seats) in stands.items():
            armed = await self._versions.of(journey, version)
            if (over := halts.why_over((journey, version), now)) is not None:
                went.append(Went(party, seats, (), (), Leaves(over), arm=party.arm))
                continue
            company = Company(armed, stand)
            await self._lead(company, seats, armed.journey, now)
            went += (_went(armed, party, each, stand) for each in company.courses if each.seats)
            singly += company.singly
        return Parting(went, singly)

    async def _lead(self, company: Company, seats: Sequence[Seated], journey: Journey, now: datetime) -> None:
        """Until nobody lacks a value. Whose value cannot be told now goes singly, and waits."""
        wanting = company.lead(seats)
        if not wanting:
            return
        try:
            program = self._cards().in_force(journey.country, now).card.program
        except SetAside:
            company.singly.extend(seat for each in wanting for seat in each.seats)
            return
        while wanting:
            by_sides: dict[tuple[str, int], list[Wanting]] = {}
            for each in wanting:
                by_sides.setdefault((each.sides[0].text, len(each.sides)), []).append(each)
            wanting = []
            for some in by_sides.values():
                for guest, told, alike in await self._told(some, program, now, journey.zone):
                    if NOT_NOW in told.values():
                        company.singly.extend(alike)
                    else:
                        known = {text: value for text, value in told.items() if value is not NOT_NOW}
                        wanting += company.lead_on(alike, guest.learned(known))

    async def _told(
        self, wanting: Sequence[Wanting], program: str, now: datetime, zone: ZoneInfo
    ) -> Sequence[tuple[Guest, Mapping[str, Found], list[Seated]]]:
        """What members are told who lack the same values: all together who knew the same, and are told alike."""
        sides, guests = wanting[0].sides, [each.guest for each in wanting for _ in each.seats]
        seats = [seat for each in wanting for seat in each.seats]
        subjects = [JourneySubject(seat.member_id, _NO_EVENT, program, now, zone, None, seat.member) for seat in seats]
        told = []
        for values, places in await self._facts.load_for_all(_origin(sides[0]), subjects, sides):
            by_guest = [places] if len(wanting) == 1 else _by_guest(places, guests)
            told += [(guests[some[0]], values, [seats[place] for place in some]) for some in by_guest]
        return told

    async def _member(self, arrived: Arrived, now: datetime) -> _Member:
        """Raises `Unavailable`, `DocumentFaults` and `SetAside`."""
        seat = arrived.seat
        armed = await self._versions.of(seat.journey, seat.version)
        journey, card = armed.journey, self._cards().in_force(seat.country, now)
        facts = self._versions.event_of(seat)
        context = {} if seat.context is None else read_context(orjson.loads(seat.context), journey.context)
        visitor = Visitor(seat.member_id, seat.visit, facts, context, arm=arrived.arm)
        subject = JourneySubject(seat.member_id, facts, card.card.program, now, journey.zone)
        late = None if arrived.due is None else self._not_done(journey, arrived.due, now)
        return _Member(arrived, armed, visitor, subject, card, late)

    def _not_done(self, journey: Journey, due: datetime, now: datetime) -> str | None:
        resumed_at = self._halts().resumed_at.get(journey.name)
        return why_not_done(journey.lateness, due, now, resumed_at=resumed_at)

    async def _called(self, members: Sequence[_Member]) -> list[tuple[_Member, str | None]]:
        """The members whom their events move, each with the exit by which it leaves, if it leaves by one."""
        ways = [(each, *way) for each in members for way in _ways(each)]
        holding = await self._holding([(member, occasion) for member, _, occasion in ways])
        found: dict[int, tuple[_Member, str | None]] = {}
        for (member, exit_, _), holds in zip(ways, holding, strict=True):
            if holds:
                found.setdefault(id(member), (member, exit_))
        return list(found.values())

    async def _holding(self, asked: Sequence[tuple[_Member, ArmedOccasion]]) -> list[bool]:
        asking: dict[int, Asks] = {}
        occurs: dict[int, Occurs] = {}
        for place, (member, occasion) in enumerate(asked):
            event = member.arrived.event
            if occasion.plan is not None and event is not None:
                context = {f"context.{name}": value for name, value in member.visitor.context.items()}
                occurs[place] = Occurs(occasion.plan, event, context)
                asking[place] = Asks(member.subject._replace(facts=event), occurs[place])
        if given_up := await ask(list(asking.values()), self._facts):
            places = list(asking)
            untold = [asked[places[place]][0].arrived for place in given_up]
            raise Untold("what a wait for an event looks up cannot be told now", map(_place, untold))
        return [place not in occurs or occurs[place].holds for place in range(len(asked))]

    async def _walked(self, walking: Sequence[tuple[_Member, Woken]], now: datetime) -> list[Moved]:
        walks = [(member, member.walk(woken, now)) for member, woken in walking]
        given_up = await ask([Asks(member.subject, walk) for member, walk in walks], self._facts)
        waiting = [(walks[place][0].arrived, "a value cannot be told now") for place in given_up]
        done = [each for place, each in enumerate(walks) if place not in given_up]
        asked = {member.subject.account for member, walk in done if _by_tier(walk)}
        tiers = await self._tiers(asked) if asked else {}
        slots, moved = await self._slots(done, now), list[Moved]()
        for place, (member, walk) in enumerate(done):
            tier = tiers.get(member.subject.account) if _by_tier(walk) else BASE_TIER
            if tier is None:
                waiting.append((member.arrived, "the tier cannot be told now"))
            else:
                moved.append(_moved(member, walk, tier, slots.get(place), now))
        return moved + _later(waiting, now)

    async def _slots(self, done: Sequence[tuple[_Member, Walk]], now: datetime) -> Mapping[int, datetime]:
        """When each who has come to a rate goes on, by its place."""
        by_node: dict[tuple[str, int, int], list[int]] = {}
        for place, (member, walk) in enumerate(done):
            if isinstance(walk.stop, Waiting) and walk.stop.due is None:
                rate = member.armed.journey.by_number[walk.stop.place.node].part
                assert isinstance(rate, Rate)  # noqa: S101  # nothing else has no due time
                name = member.armed.journey.name
                by_node.setdefault((name, walk.stop.place.node, rate.per_minute), []).append(place)
        slots: dict[int, datetime] = {}
        for (name, node, per_minute), places in sorted(by_node.items()):
            step = timedelta(minutes=1) / per_minute
            first = await self._book(f"journey:{name}:{node}", step, now, len(places))
            slots |= {place: first + number * step for number, place in enumerate(places)}
        return slots


def _by_guest(places: Sequence[int], guests: Sequence[Guest]) -> list[list[int]]:
    """Places in their order, by who stands there."""
    return [[*some] for _, some in groupby(places, key=lambda place: id(guests[place]))]


def _origin(side: Side) -> Origin:
    assert isinstance(side.place, Origin)  # noqa: S101  # nothing else is looked up
    return side.place


def _woken(arrived: Arrived) -> Woken:
    return Woken.ENTERED if arrived.enters else Woken.DUE


def _ways(member: _Member) -> Iterable[tuple[str | None, ArmedOccasion]]:
    """What the event may be for the member: an exit, by its name, or the end of the wait. An exit counts from the entry
    on, and a wait from its beginning; so an event that is read again does nothing.
    """
    event, seat, armed = member.arrived.event, member.arrived.seat, member.armed
    if event is None:
        return
    type_ = event.source, event.type
    if event.occurred_at > member.visitor.facts.occurred_at:
        yield from ((name, occasion) for name, occasion in armed.leaves_by.items() if type_ in occasion.on)
    if seat.node is not None and event.occurred_at > seat.since:
        occasion = armed.occasions.get(seat.node)
        if occasion is not None and type_ in occasion.on:
            yield None, occasion


def _by_tier(walk: Walk) -> bool:
    return any(isinstance(each.deed, Award) and needs_tier(each.deed) for each in walk.effects)


def _later(waiting: Sequence[tuple[Arrived, str]], now: datetime) -> list[Moved]:
    """Members wait where they are, for a reason. Raises `Untold` for entries and events: these are tried again."""
    at_once = [(each, why) for each, why in waiting if each.due is None]
    if at_once:
        seat, why = at_once[0][0].seat, at_once[0][1]
        raise Untold(f"{seat.journey}@{seat.version}: {why}", [_place(each) for each, _ in at_once])
    return [waits_on(each, now) for each, _ in waiting]


def _place(arrived: Arrived) -> tuple[str, str]:
    """The member, and the key of what brings it in or moves it."""
    return arrived.seat.member_id, arrived.seat.key if arrived.event is None else arrived.event.key


def _moved(member: _Member, walk: Walk, tier: str, slot: datetime | None, now: datetime) -> Moved:
    actions: list[PlannedAction] = []
    path, seen = tuple(each.node.number for each in walk.trail), (walk.arm, walk.looked_up)
    standing = Standing(member.armed.journey, member.visitor, member.card, tier)
    for effect in walk.effects:
        try:
            actions.append(planned(effect, standing, now))
        except SetAside as fault:
            return Moved(member.arrived, path, actions, Leaves(f"{effect.node.name}: {fault.detail}"), None, *seen)
    not_done = member.not_done if any(each.way == NOT_DONE for each in walk.trail) else None
    return Moved(member.arrived, path, actions, _then(member.armed, walk, slot, now), not_done, *seen)


def _went(armed: Armed, party: Party, course: Course, stand: Stand) -> Went:
    walk = course.walk
    return Went(
        party,
        course.seats,
        path=tuple(each.node.number for each in walk.trail),
        done=[Done(each.node.number, each.turn, each.arm) for each in walk.effects],
        then=_then(armed, walk, None, stand.now),
        not_done=stand.not_done if any(each.way == NOT_DONE for each in walk.trail) else None,
        arm=walk.arm,
        looked_up=course.looked_up,
    )


def _then(armed: Armed, walk: Walk, slot: datetime | None, now: datetime) -> Waits | Leaves:
    match walk.stop:
        case Left(reason):
            return Leaves(reason)
        case Waiting(place, due, why, _, zone):
            by, awaits = zone or armed.journey.timezone, why in _AWAITED
            return Waits(place.node, place.turn, due or slot or now, by, walk.arm, awaits, place.since)
        case None:
            raise AssertionError("the walk has not come to a stop")
