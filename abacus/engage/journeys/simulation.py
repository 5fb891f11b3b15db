"""What a journey would do for one member: why it does not enter, or its way with each decision. Nothing is done."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from abacus.core.errors import Refused
from abacus.engage.journeys.decide.admission import not_at
from abacus.engage.journeys.decide.armed import Armed, arm
from abacus.engage.journeys.decide.course import Course, Leg
from abacus.engage.journeys.decide.entry import OfSegment
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.publications import JourneyPublications
from abacus.engage.journeys.decide.visit import Seen, Visitor, seen_of
from abacus.engage.journeys.facts import JourneySubject
from abacus.signals.events.types import Event, Value, VariableType
from abacus.signals.facts.decide.catalog import SEGMENT
from abacus.signals.facts.types import NOT_NOW, FactRegistry
from abacus.signals.rules.decide.at_least import AtLeast
from abacus.signals.rules.decide.types import Origin, Side, looked_up


class Simulated(NamedTuple):
    """What was looked at for the entry, what is `against` it, and the way of a member who enters."""

    seen: Sequence[Seen]
    against: str | None
    legs: Sequence[Leg]


async def simulate(
    journey: Journey,
    entry: Event,
    context: Mapping[str, Value],
    events: Iterable[Event] = (),
    *,
    facts: FactRegistry[JourneySubject],
    around: JourneyPublications,
) -> Simulated:
    """`events` are assumed to happen behind the entry, each at its time; what is known of the member stays as it is.
    Raises `Unavailable`, `DocumentFaults` where the journey does not fit what is published, and `Refused` where a value
    cannot be told now.
    """
    armed, program = arm(journey, around), around.beside.cards[journey.country].card.program
    member_id = entry.member_id or ""
    look_up = _LookUp(JourneySubject(member_id, entry, program, entry.occurred_at, journey.zone), facts)
    against = against_entry(journey, entry) or await _not_in_segment(journey, look_up)
    if against is not None:
        return Simulated((), against, ())
    seen, holds = await _entry(armed, entry, context, look_up)
    if not holds:
        return Simulated(seen, "its rule does not hold", ())
    course = Course(armed, Visitor(member_id, 1, entry, context), entry.occurred_at, events)
    wanted = course.go({})
    while wanted is not None:
        wanted = course.go({wanted.text: await look_up(wanted)})
    return Simulated(seen, None, course.legs)


class _LookUp:
    """Looks up values for one member."""

    def __init__(self, subject: JourneySubject, facts: FactRegistry[JourneySubject]) -> None:
        self._subject = subject
        self._facts = facts

    async def __call__(self, side: Side) -> Value | AtLeast | None:
        """Raises `Refused`."""
        assert isinstance(side.place, Origin)  # noqa: S101  # nothing else is looked up
        (value,) = await self._facts.load(side.place, [(self._subject, side)])
        if value is NOT_NOW:
            raise Refused(f"{side.text} cannot be told now; try again")
        return value


def against_entry(journey: Journey, entry: Event) -> str | None:
    """Why nobody enters by this event; None where a member may."""
    on = journey.entry.on
    if on and (entry.source, entry.type) not in on:
        return f"members enter by {', '.join('/'.join(each) for each in on)}"
    return not_at(journey, entry)


async def _not_in_segment(journey: Journey, look_up: _LookUp) -> str | None:
    how = journey.entry.how
    if not isinstance(how, OfSegment):
        return None
    side = looked_up(SEGMENT, f"{SEGMENT.name}.{how.segment}", VariableType.BOOLEAN)
    return None if await look_up(side) else f"the segment {how.segment} does not have the member"


async def _entry(
    armed: Armed, entry: Event, context: Mapping[str, Value], look_up: _LookUp
) -> tuple[Sequence[Seen], bool]:
    """What was looked at for the rule of the entry, and whether it holds."""
    if armed.entry is None:
        return (), True
    known: dict[str, Value | AtLeast | None] = {f"context.{name}": value for name, value in context.items()}
    decision = armed.entry.decide(entry, known)
    while decision.wanted is not None:
        known[decision.wanted.text] = await look_up(decision.wanted)
        decision = armed.entry.decide(entry, known)
    return seen_of(decision.looked), bool(decision.holds)
