"""Looks up `counter.NAME(RANGE)`: counts under the key of the facts that they are looked up for."""

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol, TypeAlias
from zoneinfo import ZoneInfo

from abacus.core.errors import Unavailable
from abacus.platform.postgres import Pool
from abacus.platform.slices import some_are_away
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.decide.event_measure import Counted as CountedEvent
from abacus.signals.counters.decide.event_measure import EventMeasure, Keyed, measure_of
from abacus.signals.counters.decide.tiles import end_of_quarter
from abacus.signals.counters.decide.topics import counts_events_on
from abacus.signals.counters.reading.types import Counted, Lookup, NotCounted, Why
from abacus.signals.events.decide.source import Source
from abacus.signals.events.decide.substream import sources_on
from abacus.signals.events.types import Event, Position
from abacus.signals.facts.decide.counter_sides import COUNTER, Calendar, counter_side
from abacus.signals.facts.metrics import CAMPAIGN_COUNTERS_BEHIND
from abacus.signals.facts.types import NOT_NOW, Found, Subject, Wish
from abacus.signals.rules.decide.types import Side

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NEVER_TOLD: Final = frozenset({Why.BEYOND_KEEP, Why.INVALID})

# The counts of some lookups, in order. Raises `Unavailable`.
Counts: TypeAlias = Callable[[Sequence[Lookup]], Awaitable[Sequence[Counted | NotCounted]]]
# The positions that the counters of their topics have passed. Raises `Unavailable`.
Passed: TypeAlias = Callable[[Collection[Position]], Awaitable[Collection[Position]]]


class Published(Protocol):
    """The counters and the sources of events that are published, by name."""

    @property
    def counters(self) -> Mapping[str, Definition]: ...
    @property
    def sources(self) -> Mapping[str, Source]: ...


class AMoment(Subject, Protocol):
    """Facts with a key of counters, and the end of a count's range in a time zone. `position` is where the message of
    an event stands; None where no counter has to come to it first.
    """

    @property
    def facts(self) -> Keyed: ...
    @property
    def at(self) -> datetime: ...
    @property
    def zone(self) -> ZoneInfo: ...
    @property
    def position(self) -> Position | None: ...


async def nothing_to_wait_for(positions: Collection[Position]) -> Collection[Position]:
    """Where no event comes from a topic."""
    return positions


class CounterFacts:
    """Counts under the key of facts, over a range that ends with the quarter of an hour in which they were. A count has
    the event itself, and all events before it in its partition that the counter takes; later events of that quarter may
    be in it as well.
    """

    origin: Final = COUNTER

    def __init__(
        self,
        pool: Pool,
        published: Callable[[], Published],
        counts: Counts,
        passed: Passed = nothing_to_wait_for,
        *,
        events_topic: str,
        adds_event: bool = False,
    ) -> None:
        """With `adds_event`, each event is added to the counts that it will be in: it is not counted yet."""
        self._pool = pool
        self._published = published
        self._counts = counts
        self._passed = passed
        self._events_topic = events_topic
        self._adds_event = adds_event

    async def load(self, wanted: Sequence[Wish[AMoment]]) -> list[Found]:
        """A count is None where the facts lack a field of the key, or are so old that it cannot be told any more. It
        cannot be told now where the counter has not come to the event yet, or the count lies at a server that is away.
        Raises `Unavailable` when there is another reason.
        """
        published = self._published()
        definitions = [_definition(published.counters, side) for _, side in wanted]
        late = await self._late([subject.position for subject, _ in wanted], definitions, published.sources)
        lookups = [
            None if place in late else _lookup(definition, *wish)
            for place, (definition, wish) in enumerate(zip(definitions, wanted, strict=True))
        ]
        asked = list(dict.fromkeys(lookup for lookup in lookups if lookup is not None))
        found = dict(zip(asked, await self._counts(asked), strict=True)) if asked else {}
        await self._check(found.values())
        values: list[Found] = []
        for place, (lookup, definition, (subject, _)) in enumerate(zip(lookups, definitions, wanted, strict=True)):
            if place in late:
                values.append(NOT_NOW)
            elif lookup is None:
                values.append(None)
            else:
                units = _units(definition, subject.facts, published.sources) if self._adds_event else 0
                values.append(_value(found[lookup], units))
        return values

    async def _late(
        self,
        positions: Sequence[Position | None],
        definitions: Sequence[Definition],
        sources: Mapping[str, Source],
    ) -> Collection[int]:
        """The places of the events that a counter of their topic has not come to yet."""
        topics = {each.topic for each in positions if each is not None}
        on_topic = {topic: sources_on(topic, sources, self._events_topic) for topic in topics}
        awaited = {
            place: position
            for place, (position, definition) in enumerate(zip(positions, definitions, strict=True))
            if position is not None and counts_events_on(definition, on_topic[position.topic])
        }
        passed = await self._passed(set(awaited.values())) if awaited else ()
        late = {place for place, position in awaited.items() if position not in passed}
        for topic, events in Counter(awaited[place].topic for place in late).items():
            CAMPAIGN_COUNTERS_BEHIND.labels(topic).inc(events)
        return late

    async def _check(self, outcomes: Iterable[Counted | NotCounted]) -> None:
        missing = [each for each in outcomes if isinstance(each, NotCounted) and each.why not in _NEVER_TOLD]
        others = [each for each in missing if not each.why.is_ours]
        if others or (missing and not await some_are_away(self._pool)):
            raise Unavailable("counters", (others or missing)[0].detail)


def _definition(counters: Mapping[str, Definition], side: Side) -> Definition:
    asked = counter_side(side.text)
    if asked is None or asked.counter not in counters:
        raise Unavailable("counters", f"{side.text} is not defined any more")
    return counters[asked.counter]


def _lookup(definition: Definition, subject: AMoment, side: Side) -> Lookup | None:
    """The counter's key for the facts, over the range that ends with their quarter."""
    asked = counter_side(side.text)
    try:
        key = EventMeasure(definition, None).key(subject.facts)
    except TypeError:
        return None
    if key is None or asked is None:
        return None
    at = _seconds(subject.at)
    end = end_of_quarter(at)
    if isinstance(asked.range, timedelta):
        return Lookup(key, at + 1 - int(asked.range.total_seconds()), end)
    return Lookup(key, _begin_of(asked.range, subject.at.astimezone(subject.zone), subject.zone), end)


def _begin_of(calendar: Calendar, local: datetime, zone: ZoneInfo) -> int:
    """The first second of the day, week or month of the zone."""
    days = {Calendar.TODAY: 0, Calendar.WEEK: local.weekday(), Calendar.MONTH: local.day - 1}[calendar]
    first = local.date() - timedelta(days=days)
    return _seconds(datetime(first.year, first.month, first.day, tzinfo=zone))


def _seconds(at: datetime) -> int:
    return int((at - _EPOCH).total_seconds())


def _units(definition: Definition, facts: Keyed, sources: Mapping[str, Source]) -> int:
    """What the facts add to the counter: something, where they are an event that it counts."""
    if not isinstance(facts, Event) or definition.retired or (facts.source, facts.type) not in definition.on:
        return 0
    names = dict.fromkeys(source for source, _ in definition.on)
    outcome = measure_of(definition, tuple(sources[name] for name in names if name in sources)).key_and_amount(facts)
    return outcome.units if isinstance(outcome, CountedEvent) else 0


def _value(outcome: Counted | NotCounted, more: int) -> Found:
    if isinstance(outcome, Counted):
        return outcome._replace(units=outcome.units + more).value
    return None if outcome.why in _NEVER_TOLD else NOT_NOW
