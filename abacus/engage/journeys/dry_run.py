"""What a journey would do for many members: how many would take each way. Nothing is done."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from abacus.engage.journeys.asking import Asks, Occurs, ask
from abacus.engage.journeys.decide.armed import arm
from abacus.engage.journeys.decide.course import Course
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.publications import JourneyPublications
from abacus.engage.journeys.decide.visit import Left, Visitor
from abacus.engage.journeys.facts import JourneySubject
from abacus.engage.journeys.simulation import against_entry
from abacus.signals.events.types import Event, Value
from abacus.signals.facts.types import FactRegistry

_AT_ONCE: Final = 500  # members whose values are looked up together
_BY_RULE: Final = "the rule of the entry does not hold"


class Taken(NamedTuple):
    """A way from a node; the words are empty where there is only one."""

    node: str
    way: str
    to: str | None


class DryRun(NamedTuple):
    """Members who would enter, and why others would not; those for whom a value cannot be told now are `unknown`. A
    member counts once for each way that it takes, and for the reason for which it leaves.
    """

    entered: int
    against: Mapping[str, int]
    unknown: int
    ways: Mapping[Taken, int]
    left: Mapping[str, int]


async def dry_run(
    journey: Journey,
    entries: Sequence[Event],
    context: Mapping[str, Value],
    *,
    facts: FactRegistry[JourneySubject],
    around: JourneyPublications,
) -> DryRun:
    """Of members who enter by these events, each by one. Waits are over by the clock: nobody does anything meanwhile.
    Raises `Unavailable`, and `DocumentFaults` where the journey does not fit what is published.
    """
    armed, program = arm(journey, around), around.beside.cards[journey.country].card.program
    against, ways, left = Counter[str](), Counter[Taken](), Counter[str]()
    entered = unknown = 0

    def subject(entry: Event) -> JourneySubject:
        return JourneySubject(entry.member_id or "", entry, program, entry.occurred_at, journey.zone)

    for some in _chunks(entries):
        coming = []
        for entry in some:
            if (why := against_entry(journey, entry)) is None:
                coming.append(entry)
            else:
                against[why] += 1
        if armed.entry is not None:
            known = {f"context.{name}": value for name, value in context.items()}
            occurs = [Occurs(armed.entry, entry, known) for entry in coming]
            given_up = await ask(
                [Asks(subject(entry), each) for entry, each in zip(coming, occurs, strict=True)], facts
            )
            unknown += len(given_up)
            against[_BY_RULE] += sum(not each.holds for place, each in enumerate(occurs) if place not in given_up)
            coming = [entry for entry, each in zip(coming, occurs, strict=True) if each.holds]
        courses = [Course(armed, Visitor(each.member_id or "", 1, each, context), each.occurred_at) for each in coming]
        given_up = await ask([Asks(subject(entry), each) for entry, each in zip(coming, courses, strict=True)], facts)
        unknown += len(given_up)
        entered += len(courses)
        for place, course in enumerate(courses):
            if place not in given_up:
                ways.update(set(_taken(course)))
                left.update(leg.stop.reason for leg in course.legs[-1:] if isinstance(leg.stop, Left))
    return DryRun(entered, +against, unknown, ways, left)


def _taken(course: Course) -> Iterator[Taken]:
    for leg in course.legs:
        for passed in leg.trail:
            to = {way.words: way.to for way in passed.node.part.ways}
            yield Taken(passed.node.name, passed.way, to.get(passed.way))


def _chunks(entries: Sequence[Event]) -> Iterator[Sequence[Event]]:
    for first in range(0, len(entries), _AT_ONCE):
        yield entries[first : first + _AT_ONCE]
