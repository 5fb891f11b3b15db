"""Entries that cannot be decided wait beside their topic or wave, and hold up nobody else. They are tried again, ever
more seldom, and after some hours are set aside for people, with the fault. Any number of processes share the work.
"""

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final

import orjson
import structlog

from abacus.core.clock import Clock
from abacus.core.errors import Reason, SetAside, Unavailable
from abacus.core.fields import DocumentFaults
from abacus.core.recent import Recent
from abacus.engage.journeys.armed_versions import ArmedVersions
from abacus.engage.journeys.asking import FACTS
from abacus.engage.journeys.decide.context import context_document, read_context
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.packs import LARGEST
from abacus.engage.journeys.decide.words import NO_EVENT
from abacus.engage.journeys.directory import Running
from abacus.engage.journeys.gate import Comer, Gate, JourneyAtFault, comer, is_passing
from abacus.engage.journeys.late_rows import LateEntry, end_late, journeys_with_late, keep_late, take_late
from abacus.engage.journeys.metrics import JOURNEY_SET_ASIDE
from abacus.engage.journeys.sifting import sifted
from abacus.platform import slices
from abacus.platform.following.passing_over import PassedOver
from abacus.platform.health import WorkerHealth
from abacus.platform.patience import unless_stopped, until_available
from abacus.platform.postgres import Pool
from abacus.signals.events.decide.message import encode_event

_AT_ONCE: Final = timedelta(seconds=2)  # mostly a counter has not come to an event yet that was read just now
_FIRST: Final = timedelta(seconds=5)
_LONGEST: Final = timedelta(hours=1)
_TRIES: Final = 15  # within some six hours
_MEANWHILE: Final = timedelta(minutes=5)  # for who tries them
_REMEMBERED: Final = 10_000  # members who were late, and batches
_IDLE_S: Final = 5.0
_RNG: Final = random.Random()

log = structlog.get_logger(__name__)


class LateEntries:
    """Every method raises `Unavailable`."""

    def __init__(
        self,
        running: Callable[[], Running],
        gate: Gate,
        versions: ArmedVersions,
        *,
        pool: Pool,
        clock: Clock,
        health: WorkerHealth,
    ) -> None:
        self._running = running
        self._gate = gate
        self._versions = versions
        self._pool = pool
        self._clock = clock
        self._health = health
        self._known: Recent[tuple[str, str], bool] = Recent(_REMEMBERED)
        self._since: Recent[tuple[str, str, str], datetime] = Recent(_REMEMBERED)

    async def let_in(self, journey: Journey, comers: Sequence[Comer], over: PassedOver) -> int:
        """Members who may come in do so; who cannot be decided is late. Returns the number of who came in. Members of
        slices that are passed `over`, from now on or since before, are left out. Raises `Unavailable` also where it may
        be otherwise in a moment.
        """
        try:
            return await self._gate.let_in(journey, comers, over)
        except JourneyAtFault as fault:
            return await self._keep_of(journey, fault, comers, over)
        except Exception as fault:
            if await over.find():
                return await self.let_in(journey, comers, over)
            if is_passing(fault):
                raise
            if self._may_pass(journey, comers):
                raise Unavailable(FACTS, str(fault)) from fault
        entered, faults = await sifted(self._gate, journey, comers, over)
        for each, _ in faults:
            self._known.put((journey.name, each.member_id), True)  # noqa: FBT003  # as in a set
        await self.keep(journey, faults, over)
        return entered

    async def _keep_of(self, journey: Journey, fault: JourneyAtFault, comers: Sequence[Comer], over: PassedOver) -> int:
        """Of a journey that is at fault all are late at once, and none of them has used up a try. It takes nobody else
        in either: who would come at another time, or is of another country.
        """
        late = [each for each in comers if each.place in fault.places]
        await self.keep(journey, [(each, fault.detail) for each in late], over, tries=0)
        return await self._gate.let_in(journey, [each for each in comers if each.place not in fault.places], over)

    def _may_pass(self, journey: Journey, comers: Sequence[Comer]) -> bool:
        """Whether all wait a moment: not for a member who was late before."""
        if any(self._known.get((journey.name, each.member_id)) for each in comers):
            return False
        place, now = (journey.name, *comers[0].place), self._clock.now()
        since = self._since.get(place)
        if since is None:
            self._since.put(place, since := now)
        return now - since < _AT_ONCE

    async def keep(
        self, journey: Journey, faults: Sequence[tuple[Comer, str]], over: PassedOver, *, tries: int = 1
    ) -> None:
        """These are late, each with its fault, and were tried so often; members of slices that are passed `over` are
        left out.
        """
        now = self._clock.now()
        entries = [_late(journey, each, fault, now)._replace(tries=tries) for each, fault in faults]

        async def work(slice_: slices.Slice, part: Sequence[LateEntry]) -> None:
            async with slice_.at() as connection:
                await keep_late(connection, part)

        if entries:
            await over.split(entries, work, patience_s=None)
            why = min(fault for _, fault in faults)
            log.warning("entries of a journey wait", journey=journey.label, entries=len(entries), why=why)

    async def run(self, stop: asyncio.Event) -> None:
        """Runs until `stop` is set."""
        while not stop.is_set():
            if not await unless_stopped(until_available(partial(self.round, stop), self._health), stop, grace_s=10.0):
                await unless_stopped(asyncio.sleep(_IDLE_S), stop)

    async def round(self, stop: asyncio.Event) -> int:
        """Tries some late entries of each journey that runs, in each slice that can be reached; returns their number.
        Entries of a journey that is at fault stay as they are.
        """
        newest = {each.name: each for each in self._running().newest if await self._takes(each)}

        async def work(slice_: slices.Slice) -> int:
            async with slice_.at() as connection:
                there = await journeys_with_late(connection, sorted(newest), self._clock.now())
            looked = 0
            for name in _RNG.sample(there, len(there)):
                if not stop.is_set():
                    looked += await self._again(slice_, newest[name])
            return looked

        found = await slices.everywhere(self._pool, work, patience_s=None)
        self._health.ready()
        return sum(found.done)

    async def _takes(self, journey: Journey) -> bool:
        try:
            await self._gate.check(journey)
        except JourneyAtFault:
            return False
        return True

    async def _again(self, slice_: slices.Slice, journey: Journey) -> int:
        async with slice_.at() as connection:
            late = await take_late(connection, journey.name, self._clock.now(), _MEANWHILE, LARGEST)
        faults: dict[tuple[str, str], str] = {}
        comers: list[Comer] = []
        # A version that was approved meanwhile refuses nobody for that: it may have mended what was at fault.
        taking = replace(journey, approved_at=min([journey.approved_at, *(each.at for each in late)]))
        for each in late:
            try:
                comers.append(self._comer(journey, each))
            except (SetAside, DocumentFaults) as fault:
                faults[each.member_id, each.key] = str(fault)
        if comers:
            _, found = await sifted(self._gate, taking, comers)
            faults |= {each.place: fault for each, fault in found}
        now = self._clock.now()
        again = [_tried(each, faults[place], now) for each in late if (place := (each.member_id, each.key)) in faults]
        async with slice_.at() as connection:
            await end_late(connection, [each for each in late if (each.member_id, each.key) not in faults], again)
        for each in again:
            if each.due_at is None:
                JOURNEY_SET_ASIDE.inc()
                log.error("an entry of a journey is set aside", journey=journey.label, why=each.fault)
        return len(late)

    def _comer(self, journey: Journey, late: LateEntry) -> Comer:
        """Raises `SetAside` and `DocumentFaults` where it does not fit what is published now."""
        context = {} if late.context is None else read_context(orjson.loads(late.context), journey.context)
        plain = comer(journey, late.key, late.member_id, late.at, context)
        body = late.event.encode() if isinstance(late.event, str) else late.event
        event = None if body is None else self._versions.read_event(body, late.at)
        came = plain if event is None else plain._replace(facts=event)
        by = came.facts.source, came.facts.type
        if by not in (journey.entry.on or [NO_EVENT]):
            raise SetAside(Reason.UNSUPPORTED, f"{journey.label} takes nobody in by {'/'.join(by)}")
        return came


def _late(journey: Journey, comer_: Comer, fault: str, now: datetime) -> LateEntry:
    facts = comer_.facts
    return LateEntry(
        comer_.member_id,
        journey.name,
        comer_.key,
        journey.version,
        facts.occurred_at,
        None if (facts.source, facts.type) == NO_EVENT else encode_event(facts),
        orjson.dumps(context_document(comer_.context)) if journey.context else None,
        1,
        now + _FIRST,
        fault,
        now,
    )


def _tried(late: LateEntry, fault: str, now: datetime) -> LateEntry:
    """One that was tried once more."""
    tries = late.tries + 1
    due_at = now + min(_LONGEST, _FIRST * 2 ** (tries - 1)) if tries < _TRIES else None
    return late._replace(tries=tries, due_at=due_at, fault=fault)
