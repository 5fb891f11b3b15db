"""Unfolds deeds that were decided for many members into an action for each, under its own key: goes round the journeys,
so that few members do not wait behind a herd. Any number of processes share the work.

A deed is gone in the transaction in which its actions are there. An action whose key is there stays as it is, so a
member who was moved back to a node is given nothing twice. Where none can be made for a member, or entered, the deed is
set aside for it, with the fault.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Final, NamedTuple, TypeAlias

import structlog

from abacus.core.clock import Clock
from abacus.core.errors import LineStopped, Unavailable
from abacus.engage.actions.action_store import plan_once
from abacus.engage.actions.types import PlannedAction
from abacus.engage.journeys.aside_rows import set_deeds_aside
from abacus.engage.journeys.decide.portion import MOST, Portion, first_together
from abacus.engage.journeys.decide.seat import Seat
from abacus.engage.journeys.deed_actions import Unfolded
from abacus.engage.journeys.deed_rows import BEGIN, DeedRow, Mark, delete_deeds, journeys_with_deeds, take_deeds
from abacus.engage.journeys.gate import is_passing
from abacus.engage.journeys.halving import in_halves
from abacus.engage.journeys.journeyer import IDLE_S
from abacus.engage.journeys.metrics import JOURNEY_SET_ASIDE
from abacus.engage.journeys.seat_rows import hold_seats
from abacus.platform import slices
from abacus.platform.health import WorkerHealth
from abacus.platform.patience import unless_stopped, until_available
from abacus.platform.postgres import Connection, Pool, passing_failures

_SLICES_AT_ONCE: Final = 2
_PATIENCE_S: Final = 30.0
_MOST_IN_A_ROW: Final = 20  # turns in which nothing could be made: the fault is ours
_WHOLE_EVERY_S: Final = 1.0  # a transaction may end later than one that began after it
_RNG: Final = random.Random()

log = structlog.get_logger(__name__)

# The actions of a deed for members, by their seats. Raises `Unavailable`.
ActionsOf: TypeAlias = Callable[[DeedRow, Sequence[Seat]], Awaitable[Unfolded]]


class _Made(NamedTuple):
    """The action of a deed for a member, by its seat."""

    deed: DeedRow
    seat: Seat
    action: PlannedAction


@dataclass(slots=True)
class _Lane:
    """How far the deeds of a journey were unfolded in a slice, since that was begun at the first one, and how many are
    taken at once.
    """

    begun: float
    behind: Mark = BEGIN
    portion: Portion = field(default_factory=Portion)


class Unfolder:
    """Takes deeds, of each journey some, two slices at a time."""

    def __init__(
        self,
        actions_of: ActionsOf,
        journeys: Callable[[], Collection[str]],
        *,
        pool: Pool,
        clock: Clock,
        health: WorkerHealth,
        idle_s: float = IDLE_S,
    ) -> None:
        """`journeys` are the names of journeys that run, and of journeys that have ended."""
        self._actions_of = actions_of
        self._journeys = journeys
        self._pool = pool
        self._clock = clock
        self._health = health
        self._idle_s = idle_s
        self._lanes: dict[tuple[int, str], _Lane] = {}
        self._in_a_row = 0

    async def run(self, stop: asyncio.Event) -> None:
        """Runs until `stop` is set; deeds that were taken are finished."""
        while not stop.is_set():
            working = until_available(partial(self.round, stop), self._health)
            unfolded = await unless_stopped(working, stop, grace_s=10.0)
            if not unfolded:
                pause_s = (await slices.slice_map_of(self._pool)).pause_s(self._idle_s)
                await unless_stopped(asyncio.sleep(pause_s), stop)

    async def round(self, stop: asyncio.Event) -> int:
        """Some deeds of each journey that has any, in each slice; the number of deeds."""

        async def work(slice_: slices.Slice, _: Sequence[slices.Slice]) -> int:
            return 0 if stop.is_set() else await self._in_slice(slice_, stop)

        all_of_them = await slices.slices_of(self._pool)
        in_turn = {each.number: [each] for each in _RNG.sample(all_of_them, len(all_of_them))}
        found = await slices.in_slices(self._pool, in_turn, work, patience_s=_PATIENCE_S, at_once=_SLICES_AT_ONCE)
        self._health.ready()
        return sum(found.done)

    async def _in_slice(self, slice_: slices.Slice, stop: asyncio.Event) -> int:
        now, unfolded = time.monotonic(), 0
        lanes = {journey: self._lanes.setdefault((slice_.number, journey), _Lane(now)) for journey in self._journeys()}
        for lane in lanes.values():
            if now - lane.begun >= _WHOLE_EVERY_S:
                lane.begun, lane.behind = now, BEGIN
        async with slice_.at() as connection:
            there = await journeys_with_deeds(connection, {journey: lane.behind for journey, lane in lanes.items()})
        for journey in _RNG.sample(there, len(there)):
            if not stop.is_set():
                lane = lanes[journey]
                try:
                    deeds = await self.unfold(slice_, journey, lane.behind, lane.portion.at_once)
                except Unavailable as error:
                    if is_passing(error):
                        raise
                    log.warning("deeds of a journey wait", journey=journey, why=error.detail)
                    continue
                lane.behind = Mark(deeds[-1].at, deeds[-1].id) if deeds else BEGIN
                lane.portion.used(len(deeds), sum(len(each.members) for each in deeds))
                unfolded += len(deeds)
        return unfolded

    async def unfold(
        self, slice_: slices.Slice, journey: str, behind: Mark = BEGIN, most: int = MOST
    ) -> Sequence[DeedRow]:
        """At most `most` deeds of a journey, for five hundred members at a time. Raises `LineStopped` where none could
        be made for a long time.
        """
        async with slice_.at() as connection, slices.in_place(connection):
            deeds = list(first_together(await take_deeds(connection, journey, behind, most)))
            if not deeds:
                return []
            seats = await hold_seats(connection, journey, _places(deeds))
            made: list[_Made] = []
            without: list[tuple[DeedRow, Seat, str]] = []
            for deed in deeds:
                there = [seats[each] for each in zip(deed.members, deed.visits, strict=True) if each in seats]
                unfolded = await self._actions_of(deed, there)
                made += (_Made(deed, *each) for each in unfolded.made)
                without += ((deed, *each) for each in unfolded.without)
            faults = await _enter(connection, made)
            without += ((each.deed, each.seat, fault) for each, fault in faults)
            self._look_at(len(made) - len(faults), without)
            await set_deeds_aside(connection, without, self._clock.now())
            await delete_deeds(connection, deeds)
        JOURNEY_SET_ASIDE.inc(len(without))
        for fault in sorted({fault for *_, fault in without}):
            log.error("deeds of a journey are set aside", journey=journey, why=fault)
        return deeds

    def _look_at(self, made: int, without: Sequence[tuple[DeedRow, Seat, str]]) -> None:
        """Raises `LineStopped` where nothing could be made time after time."""
        if made:
            self._in_a_row = 0
        elif without:
            if self._in_a_row >= _MOST_IN_A_ROW:
                fault = without[0][-1]
                raise LineStopped(f"no deed of journeys could be made {_MOST_IN_A_ROW} times in a row: {fault}")
            self._in_a_row += 1


async def _enter(connection: Connection, made: Sequence[_Made]) -> list[tuple[_Made, str]]:
    """Enters actions, each at the time of its decision. What Postgres does not take comes back with the fault."""

    async def enter(some: Sequence[_Made]) -> None:
        by_time: dict[datetime, list[PlannedAction]] = {}
        for each in some:
            by_time.setdefault(each.deed.at, []).append(each.action)
        async with passing_failures(), connection.transaction():
            for at, actions in by_time.items():
                await plan_once(connection, actions, at)

    return await in_halves(made, enter, concerns_all=lambda fault: isinstance(fault, Unavailable | LineStopped))


def _places(deeds: Sequence[DeedRow]) -> Sequence[tuple[int, int]]:
    """The members and visits for which something is done, each once."""
    return sorted({place for each in deeds for place in zip(each.members, each.visits, strict=True)})
