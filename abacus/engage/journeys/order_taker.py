"""Does what is asked of journeys for their members: starts a visit, or ends those that go on, each time under the key
of what asks, in the transaction that ends the action. Goes round the journeys, so that few members do not wait behind a
herd. Any number of processes share the work.

An order to a journey that is paused, or not approved yet, waits until it runs.
"""

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Final

import structlog

from abacus.core.clock import Clock
from abacus.engage.actions.action_store import ActionStore, Batch
from abacus.engage.actions.types import DueAction
from abacus.engage.journeys.decide.apart import one_of_each
from abacus.engage.journeys.decide.context import ContextFaults, read_context
from abacus.engage.journeys.decide.entry import ByCall
from abacus.engage.journeys.decide.halts import Halts
from abacus.engage.journeys.decide.journey import OWNER_KIND, Journey
from abacus.engage.journeys.decide.orders import EndOrder, StartOrder, journey_of, order_of, receiver_of
from abacus.engage.journeys.decide.packs import LARGEST
from abacus.engage.journeys.decide.seat import Seat
from abacus.engage.journeys.directory import Running
from abacus.engage.journeys.gate import Against, Comer, Gate, begin_of, comer, count, is_passing
from abacus.engage.journeys.journeyer import IDLE_S
from abacus.engage.journeys.mover import Mover
from abacus.engage.journeys.refusal_rows import keep
from abacus.engage.journeys.sum_rows import Tally
from abacus.platform import slices
from abacus.platform.health import WorkerHealth
from abacus.platform.patience import unless_stopped, until_available
from abacus.platform.postgres import Connection, Pool, passing_failures

_SLICES_AT_ONCE: Final = 2
_PATIENCE_S: Final = 30.0
_PUT_OFF: Final = timedelta(seconds=30)
_RNG: Final = random.Random()

log = structlog.get_logger(__name__)


class OrderTaker:
    """Takes orders that wait, of each journey some, two slices at a time."""

    def __init__(
        self,
        running: Callable[[], Running],
        gate: Gate,
        mover: Mover,
        actions: ActionStore,
        *,
        pool: Pool,
        clock: Clock,
        health: WorkerHealth,
    ) -> None:
        self._running = running
        self._gate = gate
        self._mover = mover
        self._actions = actions
        self._pool = pool
        self._clock = clock
        self._health = health
        self._most: dict[str, int] = {}  # orders to a journey that are taken at once

    async def run(self, stop: asyncio.Event) -> None:
        """Runs until `stop` is set; orders that were taken are finished."""
        while not stop.is_set():
            working = until_available(partial(self.round, stop), self._health)
            done = await unless_stopped(working, stop, grace_s=10.0)
            if not done:
                pause_s = (await slices.slice_map_of(self._pool)).pause_s(IDLE_S)
                await unless_stopped(asyncio.sleep(pause_s), stop)

    async def round(self, stop: asyncio.Event) -> int:
        """Some orders to each journey that has any, in each slice; the number of orders. Members of a slice wait while
        its server is away.
        """
        running = self._running()
        receivers = [receiver_of(name) for name in (*running.names, *sorted(running.ended))]

        async def work(slice_: slices.Slice, _: Sequence[slices.Slice]) -> int:
            due = [] if stop.is_set() else await self._actions.due(slice_, receivers)
            return sum([await self._of_journey(slice_, running, each) for each in _RNG.sample(due, len(due))])

        all_of_them = await slices.slices_of(self._pool)
        in_turn = {each.number: [each] for each in _RNG.sample(all_of_them, len(all_of_them))}
        found = await slices.in_slices(self._pool, in_turn, work, patience_s=_PATIENCE_S, at_once=_SLICES_AT_ONCE)
        self._health.ready()
        return sum(found.done)

    async def _of_journey(self, slice_: slices.Slice, running: Running, receiver: str) -> int:
        """Orders that something cannot be told about now are taken again a little later, and one by one at first."""
        tally = Tally()
        async with self._actions.taken(slice_, receiver, self._most.get(receiver, LARGEST)) as batch:
            try:
                async with passing_failures(), batch.connection.transaction():
                    refused = await self._do(batch, running, journey_of(receiver), tally)
            except Exception as error:
                if is_passing(error):
                    raise
                why = f"{type(error).__name__}: {error}"
                log.warning("orders to a journey wait", journey=journey_of(receiver), why=why)
                self._most[receiver] = 1
                await self._actions.put_off(batch, batch.actions, _PUT_OFF)
            else:
                self._most[receiver] = min(LARGEST, 2 * self._most.get(receiver, LARGEST))
                await self._actions.end(batch, [each for each in batch.actions if each not in refused], refused)
                await tally.write(batch.connection)
            return len(batch.actions)

    async def _do(self, batch: Batch, running: Running, name: str, tally: Tally) -> Mapping[DueAction, str]:
        """What is against orders, with the reason."""
        journey = next((each for each in running.newest if each.name == name), None)
        if journey is None:
            return dict.fromkeys(batch.actions, f"{name} is ended")
        refused = _stopped(batch.actions, running.halts, self._clock.now())
        going_on = [each for each in batch.actions if each not in refused]
        for some in one_of_each(going_on, lambda each: each.member_id):
            orders = {each: order_of(each) for each in some}
            starts = {each: order for each, order in orders.items() if isinstance(order, StartOrder)}
            ends = {each.member_id: (each, order) for each, order in orders.items() if isinstance(order, EndOrder)}
            if starts:
                refused |= await self._start(batch.connection, journey, starts, tally)
            if ends:
                await self._mover.send_away(batch.connection, name, ends, partial(_why, ends), tally)
        return refused

    async def _start(
        self, connection: Connection, journey: Journey, starts: Mapping[DueAction, StartOrder], tally: Tally
    ) -> Mapping[DueAction, str]:
        if not isinstance(journey.entry.how, ByCall):
            return dict.fromkeys(starts, f"members do not enter {journey.label} by the API")
        now, refused = self._clock.now(), dict[DueAction, str]()
        comers: dict[DueAction, Comer] = {}
        for action, order in starts.items():
            try:
                context = read_context(order.context, journey.context)
                comers[action] = comer(journey, action.key, action.member_id, now, context)
            except ContextFaults as faults:
                refused[action] = f"its context: {'; '.join(map(str, faults.faults))}"
        against = Against()
        entries = await self._gate.entries(journey, list(comers.values()), against)
        if entries:
            may_enter = self._gate.may_enter(journey, against)
            entered = await self._mover.bring_in(connection, entries, may_enter, begin_of(journey), tally)
            count(len(entered), len(entries) - len(entered))
        await keep(connection, against.refusals(journey, list(comers.values())))
        return refused | {each: why for each, one in comers.items() if (why := against.get(one.place)) is not None}


def _stopped(actions: Sequence[DueAction], halts: Halts, now: datetime) -> dict[DueAction, str]:
    """Orders of journeys whose version is over: it does nothing more, and what it has asked for neither."""
    refused: dict[DueAction, str] = {}
    for each in actions:
        why = halts.why_over((each.owner, each.version), now) if each.owner_kind == OWNER_KIND else None
        if why is not None:
            refused[each] = why
    return refused


def _why(ends: Mapping[str, tuple[DueAction, EndOrder]], seat: Seat) -> str | None:
    """Why a visit ends; None for a visit that began after the order."""
    action, order = ends[seat.member_id]
    return order.why if seat.entered_at <= action.decided_at else None
