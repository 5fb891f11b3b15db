"""Events that move members who are inside. An event for which that cannot be decided waits beside its topic and holds
its member: nobody else waits, and what comes of the member afterwards comes behind it.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from abacus.core.clock import Clock
from abacus.core.errors import SetAside
from abacus.engage.journeys.armed_versions import ArmedVersions
from abacus.engage.journeys.decide.seat import Seat
from abacus.engage.journeys.directory import Running
from abacus.engage.journeys.gate import Comer
from abacus.engage.journeys.late_rows import Late
from abacus.engage.journeys.mover import Mover
from abacus.engage.journeys.sifting import sifted
from abacus.engage.journeys.waiting_list import FIRST, WaitingList
from abacus.platform import slices
from abacus.platform.following.passing_over import PassedOver
from abacus.platform.health import WorkerHealth
from abacus.platform.postgres import Pool
from abacus.signals.events.decide.message import encode_event
from abacus.signals.events.types import Event


class LateMoves:
    """Every method raises `Unavailable`."""

    def __init__(
        self,
        running: Callable[[], Running],
        mover: Mover,
        versions: ArmedVersions,
        *,
        pool: Pool,
        clock: Clock,
        health: WorkerHealth,
    ) -> None:
        self._running = running
        self._mover = mover
        self._versions = versions
        self._clock = clock
        self._list = WaitingList(moves=True, pool=pool, clock=clock, health=health)

    async def move(self, journey: str, version: int, events: Sequence[Event], over: PassedOver) -> None:
        """Events, one of a member, move members of a journey, whose newest version is that; who cannot be decided is
        held. Members of slices that are passed `over`, from now on or since before, are left out. Raises `Unavailable`
        also where it may be otherwise in a moment.
        """
        if not events:
            return

        async def work(slice_: slices.Slice, part: Sequence[Comer]) -> int:
            return await self._mover.hear(slice_, journey, _by_member(part), _always)

        async def attempt(some: Sequence[Comer]) -> int:
            return sum(await over.split(some, work, patience_s=None))

        comers = [Comer(each.key, each) for each in events]
        await self._list.do(journey, comers, attempt, partial(self._row, journey, version), over)

    async def run(self, stop: asyncio.Event) -> None:
        """Runs until `stop` is set."""
        await self._list.run(stop, self.round)

    async def round(self, stop: asyncio.Event) -> int:
        """Tries the first event of some members who are held, in each journey that runs and each slice that can be
        reached; returns their number.
        """
        return await self._list.round(self._running().approved, self._decide, stop)

    async def _decide(self, slice_: slices.Slice, journey: str, late: Sequence[Late]) -> Mapping[tuple[str, str], str]:
        faults: dict[tuple[str, str], str] = {}
        comers: list[Comer] = []
        for each in late:
            try:
                event = each.event_by(self._versions.read_event)
            except SetAside as fault:
                faults[each.place] = str(fault)
            else:  # an event that no source takes any more moves nobody
                comers += [] if event is None else [Comer(each.key, event)]

        async def attempt(some: Sequence[Comer]) -> int:
            return await self._mover.hear(slice_, journey, _by_member(some), _always, are_late=True)

        found = (await sifted(attempt, comers)).faults if comers else ()
        return faults | {each.place: fault for each, fault in found}

    def _row(self, journey: str, version: int, comer: Comer, fault: str) -> Late:
        event, now = encode_event(comer.facts), self._clock.now()
        return Late(
            *(comer.member_id, journey, comer.key, version, comer.facts.occurred_at, event, None),
            *(1, now + FIRST, fault, now),
            moves=True,
        )


def _by_member(comers: Sequence[Comer]) -> Mapping[str, Event]:
    return {each.member_id: each.facts for each in comers}


def _always(_: Seat, __: Event) -> bool:
    """Its version says whether an event moves a member."""
    return True
