"""Who did what the goal of a journey is: members who are inside, and who have left, each visit once."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import orjson
import structlog

from abacus.core.clock import Clock
from abacus.core.errors import SetAside, Unavailable
from abacus.core.fields import DocumentFaults
from abacus.core.recent import Recent
from abacus.engage.journeys import sum_rows
from abacus.engage.journeys.armed_versions import ArmedVersions
from abacus.engage.journeys.asking import FACTS, Asks, Occurs, ask
from abacus.engage.journeys.decide.context import read_context
from abacus.engage.journeys.decide.seat import Seat
from abacus.engage.journeys.decide.version_events import VersionEvents, first_entries
from abacus.engage.journeys.decide.ways import NOWHERE, Counted, Outcome
from abacus.engage.journeys.directory import Running
from abacus.engage.journeys.facts import JourneySubject
from abacus.engage.journeys.seat_rows import convert, unconverted
from abacus.platform import slices
from abacus.platform.following.passing_over import PassedOver
from abacus.platform.postgres import Connection
from abacus.pricing.decide.book import CardBook
from abacus.signals.events.types import Event
from abacus.signals.facts.types import FactRegistry

_GRACE: Final = timedelta(seconds=2)  # mostly a counter has not come to an event yet that was read just now
_REMEMBERED: Final = 10_000  # events that were waited for

log = structlog.get_logger(__name__)


class _Candidate(NamedTuple):
    """A visit that an event may convert, and what is asked for that."""

    seat: Seat
    event: Event
    asks: Asks
    occurs: Occurs


class Goals:
    """Every method raises `Unavailable`. What is tried again has the same outcome."""

    def __init__(
        self,
        running: Callable[[], Running],
        versions: ArmedVersions,
        facts: FactRegistry[JourneySubject],
        *,
        cards: Callable[[], CardBook],
        clock: Clock,
    ) -> None:
        self._running = running
        self._versions = versions
        self._facts = facts
        self._cards = cards
        self._clock = clock
        self._since: Recent[str, datetime] = Recent(_REMEMBERED)

    async def reach(self, events: Sequence[Event], over: PassedOver) -> None:
        """Notes the visits of which one of these events is the goal. Members of slices that are passed `over`, from now
        on or since before, are left out.
        """
        versions = {each.place: each for each in self._running().versions if each.goal}
        on = {type_ for each in versions.values() for type_ in each.goal}
        meant = [each for each in events if each.member_id is not None and (each.source, each.type) in on]

        async def work(slice_: slices.Slice, part: Sequence[Event]) -> None:
            async with slice_.at() as connection:
                seats = await unconverted(connection, first_entries(part, versions.values()))
            by = await self._converting(seats, part, versions)
            async with slice_.at() as connection, slices.in_place(connection):
                await _convert(connection, by, versions)

        if meant:
            await over.split(meant, work, member_of=_member, patience_s=None)

    async def _converting(
        self, seats: Iterable[Seat], events: Sequence[Event], versions: Mapping[tuple[str, int], VersionEvents]
    ) -> list[tuple[Seat, Event]]:
        """The visits that are converted, each by the first event that does."""
        by_member: dict[str, list[Event]] = {}
        for event in sorted(events, key=lambda each: each.occurred_at):
            by_member.setdefault(_member(event), []).append(event)
        asked: list[_Candidate] = []
        for seat in seats:
            if (seat.journey, seat.version) in versions:
                asked += await self._candidates(seat, by_member[seat.member_id])
        if given_up := await ask([each.asks for each in asked], self._facts):
            self._wait_for([asked[place] for place in sorted(given_up)])
        first: dict[tuple[str, str, int], tuple[Seat, Event]] = {}
        for seat, event, _, occurs in asked:
            if occurs.holds:
                first.setdefault((seat.member_id, seat.journey, seat.visit), (seat, event))
        return list(first.values())

    def _wait_for(self, untold: Sequence[_Candidate]) -> None:
        """All behind these events wait a moment, and no longer: a conversion is for the report alone."""
        now = self._clock.now()
        since = self._since.get(untold[0].event.key)
        if since is None:
            self._since.put(untold[0].event.key, since := now)
        if now - since < _GRACE:
            raise Unavailable(FACTS, "what the goal of a journey looks up cannot be told now")
        journeys = ", ".join(sorted({each.seat.journey for each in untold}))
        log.warning("goals cannot be judged", journeys=journeys, visits=len(untold))

    async def _candidates(self, seat: Seat, events: Iterable[Event]) -> Sequence[_Candidate]:
        try:
            armed, entered = await self._versions.of(seat.journey, seat.version), self._versions.event_of(seat)
            journey = armed.journey
            context = {} if seat.context is None else read_context(orjson.loads(seat.context), journey.context)
            program = self._cards().in_force(seat.country, entered.occurred_at).card.program
        except (SetAside, DocumentFaults) as fault:
            log.warning("a goal cannot be judged", journey=f"{seat.journey}@{seat.version}", why=str(fault))
            return []
        if armed.goal is None or journey.goal is None:
            return []
        begin, end = entered.occurred_at, entered.occurred_at + journey.goal.within
        known = {f"context.{name}": value for name, value in context.items()}
        found: list[_Candidate] = []
        for event in events:
            if (event.source, event.type) in armed.goal.on and begin < event.occurred_at <= end:
                occurs = Occurs(armed.goal.plan, event, known)
                subject = JourneySubject(seat.member_id, event, program, event.occurred_at, journey.zone)
                found.append(_Candidate(seat, event, Asks(subject, occurs), occurs))
        return found


async def _convert(
    connection: Connection, by: Sequence[tuple[Seat, Event]], versions: Mapping[tuple[str, int], VersionEvents]
) -> None:
    """They are counted on the day of their entry: so a day has no more of them than it has entries."""
    tally = sum_rows.Tally()
    for seat in await convert(connection, [(seat, event.occurred_at) for seat, event in by]):
        day = seat.entered_at.astimezone(versions[seat.journey, seat.version].zone).date()
        counted = Counted(seat.journey, seat.version, NOWHERE, seat.arm or "", Outcome.CONVERTED)
        tally.count(Counter([counted]), day)
    await tally.write(connection)


def _member(event: Event) -> str:
    return event.member_id or ""
