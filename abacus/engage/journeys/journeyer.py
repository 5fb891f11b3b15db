"""Runs what is due of all journeys: goes round them, so that few members do not wait behind a herd.

Any number of processes share the work. A pack that was taken by a process that dies is free again.
"""

import asyncio
import random
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

from abacus.core.clock import Clock
from abacus.engage.journeys.decide.halts import Halts
from abacus.engage.journeys.decide.packs import LARGEST
from abacus.engage.journeys.decide.portion import Portion
from abacus.engage.journeys.heard import Heard
from abacus.engage.journeys.metrics import JOURNEY_STEPS
from abacus.engage.journeys.mover import Mover, Ran, Stuck
from abacus.engage.journeys.pack_rows import BEGIN, Line, Mark, Stay, lines_due, versions_left
from abacus.engage.journeys.sifter import Sifter
from abacus.platform import slices
from abacus.platform.health import WorkerHealth
from abacus.platform.patience import unless_stopped, until_available
from abacus.platform.postgres import Pool

IDLE_S: Final = 0.2
SLICES_AT_ONCE: Final = 2  # each holds a connection while members go on
_PATIENCE_S: Final = 30.0  # with a slice whose members take longer than others'
_WHOLE_EVERY_S: Final = 1.0  # a pack may come in before the mark
_RNG: Final = random.Random()


@dataclass(slots=True)
class _Lane:
    """How far a line was run in a slice, since it was begun at its first pack, and how many packs are taken at once:
    with as many members as go `together`, and fewer where most go each by itself, which takes longer.
    """

    begun: float
    together: int
    portion: Portion
    behind: Mark = BEGIN

    def ran(self, ran: Ran) -> None:
        self.behind = BEGIN if ran.last is None else ran.last
        self.portion.members = LARGEST if 2 * ran.singly > ran.members else self.together
        self.portion.used(ran.packs, ran.members)

    def begin_again(self, now: float) -> None:
        self.begun, self.behind = now, BEGIN


class Journeyer:
    """Takes packs that are due, of each journey some, two slices at a time."""

    def __init__(
        self,
        mover: Mover,
        journeys: Callable[[], Collection[str]],
        heard: Heard,
        topics: Callable[[], Collection[str]],
        *,
        halts: Callable[[], Halts],
        pool: Pool,
        clock: Clock,
        health: WorkerHealth,
        idle_s: float = IDLE_S,
    ) -> None:
        """`journeys` that run now, and the `topics` with the events that their waits are for."""
        self._mover = mover
        self._sifter = Sifter(mover, clock)
        self._journeys = journeys
        self._heard = heard
        self._topics = topics
        self._halts = halts
        self._pool = pool
        self._clock = clock
        self._health = health
        self._idle_s = idle_s
        self._lanes: dict[tuple[int, Line], _Lane] = {}
        self._sent_out: dict[int, float] = {}
        self._leaving: dict[tuple[int, Stay], Portion] = {}

    async def run(self, stop: asyncio.Event) -> None:
        """Runs until `stop` is set; packs that were taken are finished."""
        while not stop.is_set():
            working = until_available(partial(self.round, stop), self._health)
            ran = await unless_stopped(working, stop, grace_s=10.0)
            if not ran:
                pause_s = (await slices.slice_map_of(self._pool)).pause_s(self._idle_s)
                await unless_stopped(asyncio.sleep(pause_s), stop)

    async def round(self, stop: asyncio.Event) -> int:
        """Some packs of each journey that has any due, in each slice; the number of packs. Members of a slice wait
        while its server is away.
        """
        now, heard = self._clock.now(), await self._heard_upto()
        behind = await self._heard.behind(self._topics())  # after what was heard

        async def work(slice_: slices.Slice, _: Sequence[slices.Slice]) -> int:
            upto = {False: now, True: None if heard is None else min(heard, behind.get(slice_.number, heard))}
            return 0 if stop.is_set() else await self._in_slice(slice_, upto, stop)

        all_of_them = await slices.slices_of(self._pool)
        in_turn = {each.number: [each] for each in _RNG.sample(all_of_them, len(all_of_them))}
        found = await slices.in_slices(self._pool, in_turn, work, patience_s=_PATIENCE_S, at_once=SLICES_AT_ONCE)
        self._health.ready()
        return sum(found.done)

    async def _heard_upto(self) -> datetime | None:
        if not (topics := self._topics()):
            return self._clock.now()
        upto = await self._heard.upto(topics)
        return None if upto is None else min(upto, self._clock.now())

    def _lane(self, slice_: slices.Slice, line: Line, now: float) -> _Lane:
        return self._lanes.setdefault((slice_.number, line), _Lane(now, line.together, Portion(line.together)))

    async def _in_slice(self, slice_: slices.Slice, upto: Mapping[bool, datetime | None], stop: asyncio.Event) -> int:
        now, packs = time.monotonic(), 0
        lines = [Line(journey, awaits) for journey in self._journeys() for awaits in (False, True)]
        lanes = {line: self._lane(slice_, line, now) for line in lines}
        for lane in lanes.values():
            if now - lane.begun >= _WHOLE_EVERY_S:
                lane.begin_again(now)
        async with slice_.at() as connection:
            due = await lines_due(connection, {line: lane.behind for line, lane in lanes.items()}, upto)
        for line in _RNG.sample(due, len(due)):
            at, lane = upto[line.awaits], lanes[line]
            if at is not None and not stop.is_set():
                try:
                    ran = await self._mover.run(slice_, line, lane.behind, at, lane.portion.at_once)
                except Stuck as stuck:
                    packs += await self._sifter.sift(slice_, stuck)
                    continue
                if ran.packs:
                    self._sifter.all_went()
                lane.ran(ran)
                JOURNEY_STEPS.inc(ran.members)
                packs += ran.packs
        return packs + await self._send_out(slice_, stop)

    async def _send_out(self, slice_: slices.Slice, stop: asyncio.Event) -> int:
        """Some packs of each version that is over and that somebody is on; the number of packs. Where there were none,
        it is looked again a second later.
        """
        now = time.monotonic()
        if now - self._sent_out.get(slice_.number, -_WHOLE_EVERY_S) < _WHOLE_EVERY_S:
            return 0
        async with slice_.at() as connection:
            stays = await versions_left(connection, self._halts().over(self._clock.now()))
        packs = 0
        for stay in stays:
            if not stop.is_set():
                portion = self._leaving.setdefault((slice_.number, stay), Portion())
                ran = await self._mover.send_out(slice_, stay, portion.at_once)
                portion.used(ran.packs, ran.members)
                packs += ran.packs
        if not packs:
            self._sent_out[slice_.number] = now
            self._leaving = {place: each for place, each in self._leaving.items() if place[0] != slice_.number}
        return packs
