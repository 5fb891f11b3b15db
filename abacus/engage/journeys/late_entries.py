"""Entries that cannot be decided wait beside their topic or wave. A version that was approved meanwhile decides them:
it may have mended the fault.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import orjson

from abacus.core.clock import Clock
from abacus.core.errors import Reason, SetAside
from abacus.core.fields import DocumentFaults
from abacus.engage.journeys.armed_versions import ArmedVersions
from abacus.engage.journeys.decide.context import context_document, read_context
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.words import NO_EVENT
from abacus.engage.journeys.directory import Running
from abacus.engage.journeys.gate import Comer, Gate, JourneyAtFault, comer
from abacus.engage.journeys.late_rows import Late
from abacus.engage.journeys.sifting import sifted
from abacus.engage.journeys.waiting_list import FIRST, WaitingList
from abacus.platform import slices
from abacus.platform.following.passing_over import PassedOver
from abacus.platform.health import WorkerHealth
from abacus.platform.postgres import Pool
from abacus.signals.events.decide.message import encode_event


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
        self._clock = clock
        self._list = WaitingList(moves=False, pool=pool, clock=clock, health=health)

    async def let_in(self, journey: Journey, comers: Sequence[Comer], over: PassedOver) -> int:
        """Members who may come in do so; who cannot be decided is late. Returns the number of who came in. Members of
        slices that are passed `over`, from now on or since before, are left out. Raises `Unavailable` also where it may
        be otherwise in a moment.
        """

        async def attempt(some: Sequence[Comer]) -> int:
            return await self._gate.let_in(journey, some, over)

        try:
            return await self._list.do(journey.name, comers, attempt, partial(self._row, journey), over)
        except JourneyAtFault as fault:
            return await self._keep_of(journey, fault, comers, over)

    async def _keep_of(self, journey: Journey, fault: JourneyAtFault, comers: Sequence[Comer], over: PassedOver) -> int:
        """Of a journey that is at fault all are late at once, and none of them has used up a try. It takes nobody else
        in either: who would come at another time, or is of another country.
        """
        rows = [self._row(journey, each, fault.detail) for each in comers if each.place in fault.places]
        await self._list.keep([each._replace(tries=0) for each in rows], over)
        return await self._gate.let_in(journey, [each for each in comers if each.place not in fault.places], over)

    async def keep(self, journey: Journey, faults: Sequence[tuple[Comer, str]], over: PassedOver) -> None:
        """These are late, each with its fault; members of slices that are passed `over` are left out."""
        await self._list.keep([self._row(journey, *each) for each in faults], over)

    async def run(self, stop: asyncio.Event) -> None:
        """Runs until `stop` is set."""
        await self._list.run(stop, self.round)

    async def round(self, stop: asyncio.Event) -> int:
        """Tries some late entries of each journey that runs, in each slice that can be reached; returns their number.
        Entries of a journey that is at fault stay as they are.
        """
        newest = {each.name: each for each in self._running().newest if await self._takes(each)}

        async def decide(_: slices.Slice, name: str, late: Sequence[Late]) -> Mapping[tuple[str, str], str]:
            return await self._decide(newest[name], late)

        return await self._list.round(newest, decide, stop)

    async def _takes(self, journey: Journey) -> bool:
        try:
            await self._gate.check(journey)
        except JourneyAtFault:
            return False
        return True

    async def _decide(self, journey: Journey, late: Sequence[Late]) -> Mapping[tuple[str, str], str]:
        faults: dict[tuple[str, str], str] = {}
        comers: list[Comer] = []
        # A version that was approved meanwhile refuses nobody for that: it may have mended what was at fault.
        taking = replace(journey, approved_at=min([journey.approved_at, *(each.at for each in late)]))
        for each in late:
            try:
                comers.append(self._comer(journey, each))
            except (SetAside, DocumentFaults) as fault:
                faults[each.place] = str(fault)
        found = (await sifted(partial(self._gate.let_in, taking), comers)).faults if comers else ()
        return faults | {each.place: fault for each, fault in found}

    def _comer(self, journey: Journey, late: Late) -> Comer:
        """Raises `SetAside` and `DocumentFaults` where it does not fit what is published now."""
        context = {} if late.context is None else read_context(orjson.loads(late.context), journey.context)
        plain = comer(journey, late.key, late.member_id, late.at, context)
        event = late.event_by(self._versions.read_event)
        came = plain if event is None else plain._replace(facts=event)
        by = came.facts.source, came.facts.type
        if by not in (journey.entry.on or [NO_EVENT]):
            raise SetAside(Reason.UNSUPPORTED, f"{journey.label} takes nobody in by {'/'.join(by)}")
        return came

    def _row(self, journey: Journey, comer_: Comer, fault: str) -> Late:
        facts, now = comer_.facts, self._clock.now()
        return Late(
            comer_.member_id,
            journey.name,
            comer_.key,
            journey.version,
            facts.occurred_at,
            None if (facts.source, facts.type) == NO_EVENT else encode_event(facts),
            orjson.dumps(context_document(comer_.context)) if journey.context else None,
            1,
            now + FIRST,
            fault,
            now,
        )
