"""What events do to journeys: they move members who are inside, and let members in."""

from collections.abc import Callable, Mapping, Sequence

from abacus.core.clock import Clock
from abacus.core.errors import SetAside, Unavailable
from abacus.core.fields import DocumentFaults
from abacus.core.members import strange_among
from abacus.engage.journeys.armed_versions import ArmedVersions
from abacus.engage.journeys.asking import Asks, Occurs, ask
from abacus.engage.journeys.decide.admission import Visits, not_again, not_at, value_of_entry
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.seat import Entry
from abacus.engage.journeys.directory import Running, moving
from abacus.engage.journeys.facts import JourneySubject
from abacus.engage.journeys.metrics import JOURNEY_ENTRIES
from abacus.engage.journeys.mover import Mover
from abacus.engage.journeys.seat_rows import Visit
from abacus.engage.notify.decide.contact_policy import is_held_out
from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.pricing.decide.book import CardBook
from abacus.signals.events.decide.message import encode_event
from abacus.signals.events.decide.vocabulary import EventType
from abacus.signals.events.types import Event
from abacus.signals.facts.types import FactRegistry
from abacus.signals.segments.numbers import MemberNumbers


class Happenings:
    """Every method raises `Unavailable`. What is tried again has the same outcome."""

    def __init__(
        self,
        running: Callable[[], Running],
        versions: ArmedVersions,
        mover: Mover,
        facts: FactRegistry[JourneySubject],
        *,
        cards: Callable[[], CardBook],
        pool: Pool,
        clock: Clock,
    ) -> None:
        self._running = running
        self._versions = versions
        self._mover = mover
        self._facts = facts
        self._cards = cards
        self._pool = pool
        self._clock = clock
        self._numbers = MemberNumbers(pool)

    async def happen(self, events: Sequence[Event]) -> None:
        """Events in their order; those of one member come one after the other."""
        for some in _apart(events):
            running = self._running()
            types: dict[str, set[EventType]] = {}
            for journey in running.versions:
                types.setdefault(journey.name, set()).update(moving(journey))
            for name, moved_by in types.items():
                await self._move(name, [each for each in some if (each.source, each.type) in moved_by])
            for journey in running.entering():
                await self._enter(running, journey, some)

    async def _move(self, journey: str, events: Sequence[Event]) -> None:
        async def work(slice_: slices.Slice, part: Sequence[Event]) -> int:
            by_member = {each.member_id or "": each for each in part}
            return await self._mover.hear(slice_, journey, by_member, lambda _, __: True)

        if events:
            (await slices.split(self._pool, events, work, member_of=_member, patience_s=None)).whole()

    async def _enter(self, running: Running, journey: Journey, events: Sequence[Event]) -> None:
        holdout = running.around.beside.holdouts.get(journey.country, 0)
        wanted = [
            each
            for each in events
            if (each.source, each.type) in journey.entry.on
            and not_at(journey, each) is None
            and not is_held_out(journey.country, _member(each), holdout)
        ]
        entries = await self._entries(journey, await self._fitting(journey, wanted)) if wanted else []

        async def work(slice_: slices.Slice, part: Sequence[Entry]) -> int:
            begin = journey.nodes[journey.begin].number
            return len(await self._mover.enter(slice_, part, self._may_enter(journey), begin))

        if entries:
            done = await slices.split(self._pool, entries, work, member_of=lambda each: each.member_id, patience_s=None)
            JOURNEY_ENTRIES.labels("entered").inc(entered := sum(done.whole()))
            JOURNEY_ENTRIES.labels("not_again").inc(len(entries) - entered)

    async def _fitting(self, journey: Journey, events: Sequence[Event]) -> list[Event]:
        """The events for which the rule of the entry holds."""
        try:
            armed = await self._versions.of(journey.name, journey.version)
            program = self._cards().in_force(journey.country, self._clock.now()).card.program
        except (DocumentFaults, SetAside) as fault:
            raise Unavailable("journeys", f"{journey.label}: {fault}") from fault
        if armed.entry is None:
            return list(events)
        occurs = [Occurs(armed.entry, each, {}) for each in events]
        subjects = [JourneySubject(_member(each), each, program, each.occurred_at, journey.zone) for each in events]
        if await ask([Asks(*each) for each in zip(subjects, occurs, strict=True)], self._facts):
            raise Unavailable("facts", f"what the entry of {journey.label} looks up cannot be told now")
        return [each for each, decided in zip(events, occurs, strict=True) if decided.holds]

    async def _entries(self, journey: Journey, events: Sequence[Event]) -> list[Entry]:
        """Members whose ids no new member may have do not enter, unless they have an account."""
        strangers = set(await self._numbers.strangers(list(strange_among(map(_member, events)))))
        known = [each for each in events if each.member_id not in strangers]
        numbers = await self._numbers.give(map(_member, known))
        return [_entry(journey, each, numbers) for each in known]

    def _may_enter(self, journey: Journey) -> Callable[[Entry, Sequence[Visit]], bool]:
        now = self._clock.now()

        def may_enter(entry: Entry, visits: Sequence[Visit]) -> bool:
            inside = [each for each in visits if each.left_at is None]
            last = max((each.entered_at for each in visits), default=None)
            values = [each.value for each in inside if each.value is not None]
            return not_again(journey, Visits(len(visits), last, len(inside), values), entry.value, now) is None

        return may_enter


def _entry(journey: Journey, event: Event, numbers: Mapping[str, int]) -> Entry:
    member_id = _member(event)
    return Entry(
        member_id,
        numbers[member_id],
        journey.name,
        journey.version,
        event.key,
        journey.country,
        value_of_entry(journey, event, {}),
        event=encode_event(event),
    )


def _member(event: Event) -> str:
    return event.member_id or ""


def _apart(events: Sequence[Event]) -> list[list[Event]]:
    """The events in parts, each with one of a member at most."""
    parts: list[list[Event]] = []
    counts: dict[str, int] = {}
    for event in events:
        if event.member_id is not None:
            place = counts[event.member_id] = counts.get(event.member_id, -1) + 1
            if place == len(parts):
                parts.append([])
            parts[place].append(event)
    return parts
