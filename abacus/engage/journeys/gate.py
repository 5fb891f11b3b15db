"""The gate of journeys: which members may come in, what is against others, and the way in."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Final, NamedTuple, TypeVar

import orjson

from abacus.core.clock import Clock
from abacus.core.errors import LineStopped, SetAside, Unavailable
from abacus.core.fields import DocumentFaults
from abacus.core.members import strange_among
from abacus.engage.journeys.armed_versions import ArmedVersions
from abacus.engage.journeys.asking import FACTS, Asks, Occurs, Untold, ask
from abacus.engage.journeys.decide.admission import Visits, not_again, not_at, value_of_entry
from abacus.engage.journeys.decide.armed import Armed
from abacus.engage.journeys.decide.context import context_document
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.seat import Entry
from abacus.engage.journeys.decide.visit import Seen, seen_of
from abacus.engage.journeys.decide.words import NO_EVENT
from abacus.engage.journeys.facts import JourneySubject
from abacus.engage.journeys.metrics import JOURNEY_ENTRIES
from abacus.engage.journeys.mover import Mover
from abacus.engage.journeys.refusal_rows import Refusal, keep
from abacus.engage.journeys.seat_rows import MayEnter, Visit
from abacus.engage.notify.decide.contact_policy import is_held_out
from abacus.platform import slices
from abacus.platform.following.passing_over import PassedOver
from abacus.platform.postgres import Pool
from abacus.pricing.decide.book import CardBook
from abacus.signals.events.decide.message import encode_event
from abacus.signals.events.types import Event, Value
from abacus.signals.facts.types import FactRegistry
from abacus.signals.segments.numbers import MemberNumbers

NOTHING: Final[Mapping[str, Value]] = MappingProxyType({})

Thing = TypeVar("Thing")
Result = TypeVar("Result")

CANNOT_BE_TOLD: Final = frozenset({FACTS, "journeys"})  # what is unavailable while the database answers


def is_passing(fault: Exception) -> bool:
    """Whether everybody waits for it: what is unavailable, but for what cannot be told of a member."""
    if isinstance(fault, Unavailable):
        return fault.dependency not in CANNOT_BE_TOLD
    return isinstance(fault, LineStopped)


class JourneyAtFault(Unavailable):
    """A journey itself is at fault: it does not fit what is published, or its country has no card. Nobody comes in
    until that is mended, and nobody is at fault who would, by these ids and keys.
    """

    def __init__(self, detail: str, places: Iterable[tuple[str, str]] = ()) -> None:
        super().__init__("journeys", detail)
        self.places = frozenset(places)


class Comer(NamedTuple):
    """A member at the gate, and the `key` of what brings it there, under which it comes in once. `facts` is the event
    by which it comes, or says only who, where and when; `context` is what it brings along.
    """

    key: str
    facts: Event
    context: Mapping[str, Value] = NOTHING

    @property
    def member_id(self) -> str:
        return self.facts.member_id or ""

    @property
    def place(self) -> tuple[str, str]:
        return self.member_id, self.key


class Against(dict[tuple[str, str], str]):
    """What is against members, in words, by their ids and the keys of what brings them; and what was `seen` then."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[tuple[str, str], Sequence[Seen]] = {}

    def refusals(self, journey: Journey, comers: Sequence[Comer]) -> list[tuple[str, Refusal]]:
        """As they are kept behind their keys, to be told: not of events of other countries, and not under ids that
        nobody may have.
        """
        strange = set(strange_among(each.member_id for each in comers))
        of = journey.name, journey.version
        return [
            (
                each.key,
                Refusal(
                    *(each.member_id, *of, each.facts.occurred_at, self[each.place]), self.seen.get(each.place, ())
                ),
            )
            for each in comers
            if each.place in self and each.member_id not in strange and each.facts.country in {None, journey.country}
        ]


class Gate:
    """Every method raises `Unavailable`. What is tried again has the same outcome."""

    def __init__(
        self,
        versions: ArmedVersions,
        mover: Mover,
        facts: FactRegistry[JourneySubject],
        *,
        holdouts: Callable[[], Mapping[str, int]],
        cards: Callable[[], CardBook],
        pool: Pool,
        clock: Clock,
    ) -> None:
        self._versions = versions
        self._mover = mover
        self._facts = facts
        self._holdouts = holdouts
        self._cards = cards
        self._pool = pool
        self._clock = clock
        self._numbers = MemberNumbers(pool)

    async def let_in(self, journey: Journey, comers: Sequence[Comer], over: PassedOver | None = None) -> int:
        """Members who may come in do so, each once. Returns the number of them. Members of slices that are passed
        `over` are left out; without it, everybody waits for a slice that is away. Raises `Untold`, which names all who
        cannot be told, and `JourneyAtFault`; none of these came in then.
        """
        against = Against()
        comers = comers if over is None else await over.kept(comers)
        entries = await self.entries(journey, comers, against)
        may_enter = self.may_enter(journey, against)

        async def work(slice_: slices.Slice, part: Sequence[Entry]) -> int:
            return len(await self._mover.enter(slice_, part, may_enter, begin_of(journey)))

        entered = 0
        if entries:
            entered = sum(await self._split(entries, work, over, lambda each: each.member_id))
            count(entered, len(entries) - entered)
        JOURNEY_ENTRIES.labels("refused").inc(len(comers) - len(entries))
        await self._keep(against.refusals(journey, comers), over)
        return entered

    async def entries(self, journey: Journey, comers: Sequence[Comer], against: Against) -> list[Entry]:
        """The entries of members who may come in, by all but their visits; `against` gets the reasons of the others."""
        holdout = self._holdouts().get(journey.country, 0)
        there: list[Comer] = []
        for each in comers:
            if (why := _not_now(journey, each, holdout)) is None:
                there.append(each)
            else:
                against[each.place] = why
        if not there:
            return []
        fitting = await self._fitting(journey, there, against)
        strangers = set(await self._numbers.strangers(list(strange_among(each.member_id for each in fitting))))
        known = [each for each in fitting if each.member_id not in strangers]
        against |= {each.place: "no new member may have such an id" for each in _without(fitting, known)}
        numbers = await self._numbers.give(each.member_id for each in known)
        return [_entry(journey, each, numbers[each.member_id]) for each in known]

    async def check(self, journey: Journey) -> None:
        """Raises `JourneyAtFault`, and `Unavailable`."""
        await self._armed(journey, ())

    def may_enter(self, journey: Journey, against: Against) -> MayEnter:
        """Whether a member may come in, who was there before; `against` gets the reason where it may not."""
        now = self._clock.now()

        def may_enter(entry: Entry, visits: Sequence[Visit]) -> bool:
            inside = [each for each in visits if each.left_at is None]
            last = max((each.entered_at for each in visits), default=None)
            values = [each.value for each in inside if each.value is not None]
            ever = max((each.visit for each in visits), default=0)
            why = not_again(journey, Visits(ever, last, len(inside), values), entry.value, now)
            if why is not None:
                against[entry.member_id, entry.key] = why
            return why is None

        return may_enter

    async def _keep(self, refusals: Sequence[tuple[str, Refusal]], over: PassedOver | None) -> None:
        async def work(slice_: slices.Slice, part: Sequence[tuple[str, Refusal]]) -> None:
            async with slice_.at() as connection:
                await keep(connection, part)

        if refusals:
            await self._split(refusals, work, over, lambda each: each[1].member_id)

    async def _split(
        self,
        things: Sequence[Thing],
        work: slices.Work[Thing, Result],
        over: PassedOver | None,
        member_of: Callable[[Thing], str],
    ) -> Sequence[Result]:
        if over is not None:
            return await over.split(things, work, member_of=member_of, patience_s=None)
        return (await slices.split(self._pool, things, work, member_of=member_of, patience_s=None)).whole()

    async def _fitting(self, journey: Journey, comers: Sequence[Comer], against: Against) -> list[Comer]:
        """Those for whom the rule of the entry holds."""
        armed, program = await self._armed(journey, comers)
        if armed.entry is None:
            return list(comers)
        occurs = [Occurs(armed.entry, each.facts, _known(each)) for each in comers]
        asking = [
            Asks(JourneySubject(each.member_id, each.facts, program, each.facts.occurred_at, journey.zone), one)
            for each, one in zip(comers, occurs, strict=True)
        ]
        if given_up := await ask(asking, self._facts):
            untold = [comers[place].place for place in given_up]
            raise Untold(f"what the entry of {journey.label} looks up cannot be told now", untold)
        for each, decided in zip(comers, occurs, strict=True):
            if not decided.holds:
                against[each.place] = "the rule of the entry does not hold"
                against.seen[each.place] = seen_of(decided.looked)
        return [each for each in comers if each.place not in against]

    async def _armed(self, journey: Journey, comers: Sequence[Comer]) -> tuple[Armed, str]:
        """The journey, ready to be walked, and the program of its country. Raises `JourneyAtFault`."""
        try:
            armed = await self._versions.of(journey.name, journey.version)
            return armed, self._cards().in_force(journey.country, self._clock.now()).card.program
        except (DocumentFaults, SetAside) as fault:
            places = [each.place for each in comers]
            raise JourneyAtFault(f"{journey.label}: {fault}", places) from fault


def begin_of(journey: Journey) -> int:
    """The number of the first node."""
    return journey.nodes[journey.begin].number


def comer(journey: Journey, key: str, member_id: str, at: datetime, context: Mapping[str, Value] = NOTHING) -> Comer:
    """A member who comes by no event."""
    return Comer(key, Event(*NO_EVENT, key, member_id, journey.country, at, {}), context)


def count(entered: int, not_again: int) -> None:
    """In the metrics."""
    JOURNEY_ENTRIES.labels("entered").inc(entered)
    JOURNEY_ENTRIES.labels("not_again").inc(not_again)


def _not_now(journey: Journey, comer: Comer, holdout: int) -> str | None:
    why = not_at(journey, comer.facts)
    if why is None and is_held_out(journey.country, comer.member_id, holdout):
        return f"it is held out in {journey.country}"
    return why


def _without(all_of_them: Sequence[Comer], some: Sequence[Comer]) -> list[Comer]:
    places = {each.place for each in some}
    return [each for each in all_of_them if each.place not in places]


def _known(comer: Comer) -> Mapping[str, Value]:
    return {f"context.{name}": value for name, value in comer.context.items()}


def _entry(journey: Journey, comer: Comer, number: int) -> Entry:
    facts = comer.facts
    return Entry(
        comer.member_id,
        number,
        journey.name,
        journey.version,
        comer.key,
        journey.country,
        value_of_entry(journey, facts, comer.context),
        context=orjson.dumps(context_document(comer.context)) if journey.context else None,
        event=None if (facts.source, facts.type) == NO_EVENT else encode_event(facts),
        at_most=journey.re_entry.at_most,
    )
