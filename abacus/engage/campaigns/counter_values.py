"""The counts that rules of campaigns look up, each with the event that it is looked up for."""

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias

from abacus.core.errors import Unavailable
from abacus.engage.campaigns.decide.campaign import Campaign, Period
from abacus.engage.campaigns.decide.sides import Calendar, counter_side
from abacus.engage.campaigns.decide.surroundings import Surroundings
from abacus.engage.campaigns.subject import Wishes
from abacus.platform.metrics import CAMPAIGN_COUNTERS_BEHIND
from abacus.platform.postgres import Pool
from abacus.platform.slices.sliced import some_are_away
from abacus.signals.counters.decide.counting import Counted as CountedEvent
from abacus.signals.counters.decide.counting import Counting, counting_of
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.decide.following import counts_events_on
from abacus.signals.counters.decide.tiling import end_of_quarter
from abacus.signals.counters.reading.types import Counted, Lookup, NotCounted, Why
from abacus.signals.events.decide.following import sources_on
from abacus.signals.events.decide.source import Source
from abacus.signals.events.types import Event, Position, Value
from abacus.signals.rules.decide.types import Side
from abacus.signals.rules.rounds import NOT_NOW, NotNow

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_PERIODS: Final = {Calendar.TODAY: Period.DAY, Calendar.WEEK: Period.WEEK, Calendar.MONTH: Period.MONTH}
_NEVER_TOLD: Final = frozenset({Why.BEYOND_KEEP, Why.INVALID})

# The counts of some lookups, in order. Raises `Unavailable`.
Counts: TypeAlias = Callable[[Sequence[Lookup]], Awaitable[Sequence[Counted | NotCounted]]]
# The positions that the counters of their topics have passed. Raises `Unavailable`.
Passed: TypeAlias = Callable[[Collection[Position]], Awaitable[Collection[Position]]]


async def nothing_to_wait_for(positions: Collection[Position]) -> Collection[Position]:
    """Where no event comes from a topic."""
    return positions


class CounterValues:
    """Counts under the key of an event, over a range that ends with the quarter of an hour in which it happened. A
    count has the event itself, and all before it in its partition that the counter takes; later ones of that quarter
    may be in it as well.
    """

    def __init__(
        self,
        pool: Pool,
        around: Callable[[], Surroundings],
        counts: Counts,
        passed: Passed = nothing_to_wait_for,
        *,
        events_topic: str,
        adds_event: bool = False,
    ) -> None:
        """With `adds_event`, events are not counted yet, and each is added to the counts that it will be in."""
        self._pool = pool
        self._around = around
        self._counts = counts
        self._passed = passed
        self._events_topic = events_topic
        self._adds_event = adds_event

    async def of(self, wanted: Wishes) -> list[Value | NotNow | None]:
        """A count is None where the event lacks a field of the key, or is so old that it cannot be told any more. It
        cannot be told now where the counter has not come to the event yet, or the count lies at a server that is away.
        Raises `Unavailable` when there is another reason.
        """
        around = self._around()
        definitions = [_definition(around.counters, side) for _, _, side in wanted]
        late = await self._late([subject.position for subject, _, _ in wanted], definitions, around.sources)
        lookups = [
            None if place in late else _lookup(definition, subject.campaign, event, side)
            for place, (definition, (subject, event, side)) in enumerate(zip(definitions, wanted, strict=True))
        ]
        asked = list(dict.fromkeys(lookup for lookup in lookups if lookup is not None))
        found = dict(zip(asked, await self._counts(asked), strict=True)) if asked else {}
        await self._check(found.values())
        values: list[Value | NotNow | None] = []
        for place, (lookup, definition, (_, event, _)) in enumerate(zip(lookups, definitions, wanted, strict=True)):
            if place in late:
                values.append(NOT_NOW)
            elif lookup is None:
                values.append(None)
            else:
                units = _units(definition, event, around.sources) if self._adds_event else 0
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


def _lookup(definition: Definition, campaign: Campaign, event: Event, side: Side) -> Lookup | None:
    """The counter's key for the event, over the range that ends with its quarter."""
    asked = counter_side(side.text)
    try:
        key = Counting(definition, None).key(event)
    except TypeError:
        return None
    if key is None or asked is None:
        return None
    at = _seconds(event.occurred_at)
    end = end_of_quarter(at)
    if isinstance(asked.range, timedelta):
        return Lookup(key, at + 1 - int(asked.range.total_seconds()), end)
    return Lookup(key, _begin_of(_PERIODS[asked.range], campaign, event.occurred_at), end)


def _begin_of(period: Period, campaign: Campaign, at: datetime) -> int:
    """The first second of the day, week or month of the campaign's zone."""
    local = at.astimezone(campaign.zone)
    days = {Period.DAY: 0, Period.WEEK: local.weekday(), Period.MONTH: local.day - 1}[period]
    first = local.date() - timedelta(days=days)
    return _seconds(datetime(first.year, first.month, first.day, tzinfo=campaign.zone))


def _seconds(at: datetime) -> int:
    return int((at - _EPOCH).total_seconds())


def _units(definition: Definition, event: Event, sources: Mapping[str, Source]) -> int:
    """What the event adds to the counter."""
    if definition.retired or (event.source, event.type) not in definition.on:
        return 0
    names = dict.fromkeys(source for source, _ in definition.on)
    outcome = counting_of(definition, tuple(sources[name] for name in names if name in sources)).key_and_amount(event)
    return outcome.units if isinstance(outcome, CountedEvent) else 0


def _value(outcome: Counted | NotCounted, more: int) -> Value | NotNow | None:
    if isinstance(outcome, Counted):
        return outcome._replace(units=outcome.units + more).value
    return None if outcome.why in _NEVER_TOLD else NOT_NOW
