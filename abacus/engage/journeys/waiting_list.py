"""What cannot be decided for members waits beside what brought it, and holds up nobody else. It is tried again, ever
more seldom, and after some hours is set aside for people, with the fault. Any number of processes share the work.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Final, TypeAlias

import structlog

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.core.recent import Recent
from abacus.engage.journeys.asking import FACTS
from abacus.engage.journeys.decide.packs import LARGEST
from abacus.engage.journeys.gate import Comer, JourneyAtFault, is_passing
from abacus.engage.journeys.held_rows import Held
from abacus.engage.journeys.late_rows import Late, end_late, journeys_with_late, keep_late, take_late
from abacus.engage.journeys.metrics import JOURNEY_SET_ASIDE
from abacus.engage.journeys.sifting import Attempt, sifted
from abacus.platform import slices
from abacus.platform.following.passing_over import PassedOver
from abacus.platform.health import WorkerHealth
from abacus.platform.patience import unless_stopped, until_available
from abacus.platform.postgres import Pool

_AT_ONCE: Final = timedelta(seconds=2)  # mostly a counter has not come to an event yet that was read just now
FIRST: Final = timedelta(seconds=5)
_LONGEST: Final = timedelta(hours=1)
_TRIES: Final = 15  # within some six hours
_MEANWHILE: Final = timedelta(minutes=5)  # for who tries them
_REMEMBERED: Final = 10_000  # members who were late, and batches
_IDLE_S: Final = 5.0
_RNG: Final = random.Random()

log = structlog.get_logger(__name__)

# The row of what waits for a member in a journey, with its fault.
RowOf: TypeAlias = Callable[[Comer, str], Late]
# Decides what is tried again, in its slice: the faults of what cannot be decided yet, by members and keys.
Decide: TypeAlias = Callable[[slices.Slice, str, Sequence[Late]], Awaitable[Mapping[tuple[str, str], str]]]


class WaitingList:
    """Entries of members, or events that move who is inside. Every method raises `Unavailable`."""

    def __init__(self, *, moves: bool, pool: Pool, clock: Clock, health: WorkerHealth) -> None:
        self._moves = moves
        self._pool = pool
        self._clock = clock
        self._health = health
        self._known: Recent[tuple[str, str], bool] = Recent(_REMEMBERED)
        self._since: Recent[tuple[str, str, str], datetime] = Recent(_REMEMBERED)

    async def do(self, journey: str, comers: Sequence[Comer], attempt: Attempt, row_of: RowOf, over: PassedOver) -> int:
        """Attempts it for all members that can be decided, and tells what came of it; the others are late.
        Raises `Unavailable` also where it may be otherwise in a moment, and `JourneyAtFault`.
        """
        try:
            return await attempt(comers)
        except JourneyAtFault:
            raise
        except Exception as fault:
            if await over.find():
                return await self.do(journey, comers, attempt, row_of, over)
            if is_passing(fault):
                raise
            if not isinstance(fault, Held) and self._may_pass(journey, comers):
                raise Unavailable(FACTS, str(fault)) from fault
        done, faults = await sifted(attempt, comers, over)
        for each, _ in faults:
            self._known.put((journey, each.member_id), True)  # noqa: FBT003  # as in a set
        await self.keep([row_of(*each) for each in faults], over)
        return done

    def _may_pass(self, journey: str, comers: Sequence[Comer]) -> bool:
        """Whether all wait a moment: not for a member who was late before."""
        if any(self._known.get((journey, each.member_id)) for each in comers):
            return False
        place, now = (journey, *comers[0].place), self._clock.now()
        since = self._since.get(place)
        if since is None:
            self._since.put(place, since := now)
        return now - since < _AT_ONCE

    async def keep(self, late: Sequence[Late], over: PassedOver) -> None:
        """These are late from now on; members of slices that are passed `over` are left out."""

        async def work(slice_: slices.Slice, part: Sequence[Late]) -> None:
            async with slice_.at() as connection:
                await keep_late(connection, part)

        if late:
            await over.split(late, work, patience_s=None)
            what = "events of a journey wait" if self._moves else "entries of a journey wait"
            log.warning(what, journey=late[0].journey, many=len(late), why=min(each.fault for each in late))

    async def run(self, stop: asyncio.Event, round_: Callable[[asyncio.Event], Awaitable[int]]) -> None:
        """Rounds until `stop` is set."""
        while not stop.is_set():
            if not await unless_stopped(until_available(partial(round_, stop), self._health), stop, grace_s=10.0):
                await unless_stopped(asyncio.sleep(_IDLE_S), stop)

    async def round(self, journeys: Collection[str], decide: Decide, stop: asyncio.Event) -> int:
        """Tries some of each of these journeys, in each slice that can be reached; how many were tried."""

        async def work(slice_: slices.Slice) -> int:
            async with slice_.at() as connection:
                there = await journeys_with_late(connection, sorted(journeys), self._clock.now(), moves=self._moves)
            tried = 0
            for name in _RNG.sample(there, len(there)):
                if not stop.is_set():
                    tried += await self._again(slice_, name, decide)
            return tried

        found = await slices.everywhere(self._pool, work, patience_s=None)
        self._health.ready()
        return sum(found.done)

    async def _again(self, slice_: slices.Slice, journey: str, decide: Decide) -> int:
        async with slice_.at() as connection:
            now = self._clock.now()
            late = await take_late(connection, journey, now, _MEANWHILE, LARGEST, moves=self._moves)
        faults, now = await decide(slice_, journey, late), self._clock.now()
        again = [_tried(each, faults[each.place], now) for each in late if each.place in faults]
        async with slice_.at() as connection:
            await end_late(connection, [each for each in late if each.place not in faults], again)
        for each in again:
            if each.due_at is None:
                JOURNEY_SET_ASIDE.inc()
                what = "an event of a journey is set aside" if self._moves else "an entry of a journey is set aside"
                log.error(what, journey=journey, why=each.fault)
        return len(late)


def _tried(late: Late, fault: str, now: datetime) -> Late:
    """What was tried once more."""
    tries = late.tries + 1
    due_at = now + min(_LONGEST, FIRST * 2 ** (tries - 1)) if tries < _TRIES else None
    return late._replace(tries=tries, due_at=due_at, fault=fault)
