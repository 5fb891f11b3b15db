"""Does actions when their time has come: a loop for each receiver."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Final, NamedTuple, TypeAlias

from abacus.core.clock import Clock
from abacus.engage.actions.action_store import ActionStore, Batch
from abacus.engage.actions.metrics import CAMPAIGN_ACTIONS, CAMPAIGN_ACTIONS_OLDEST, CAMPAIGN_ACTIONS_WAITING
from abacus.engage.actions.types import NONE_REFUSED, NONE_STOPPED, DueAction, Guards, Refusals, WhyStopped
from abacus.platform import slices
from abacus.platform.delivery.deliverer import IDLE_S, Periodic
from abacus.platform.health import WorkerHealth
from abacus.platform.patience import unless_stopped, until_available
from abacus.platform.postgres import Pool
from abacus.platform.slices import SliceMap

_MOST: Final = 1_000  # actions in one transaction
_LOOK_EVERY_S: Final = 5.0
_SLICES_AT_ONCE: Final = 2  # each holds a connection while its actions are handed over
_PATIENCE_S: Final = 30.0  # with a slice whose actions take longer than others'
_LOOK_AGAIN: Final = timedelta(seconds=30)  # at what cannot be told now
_RNG: Final = random.Random()

# Returns when the receiver has these actions, but for refused actions, and actions that it cannot take yet. Raises
# `Unavailable`: the receiver may have some of them then, and the handover is done again.
Handover: TypeAlias = Callable[[Batch, Sequence[DueAction]], Awaitable[Refusals]]

# Of the actions wanted, the number that the receiver's pace allows now; these turns are taken. Raises `Unavailable`.
TurnsOf: TypeAlias = Callable[[str, int], Awaitable[int]]


class _Done(NamedTuple):
    """How many actions of a slice were ended, and whether more are due for which the receiver has no turn."""

    ended: int
    has_no_turn: bool


class ActionRunner:
    """Takes the due actions of one receiver, two slices at a time, and hands over each action whose guards still hold.
    Any number of processes share the work.
    """

    def __init__(
        self,
        receiver: str,
        handover: Handover,
        actions: ActionStore,
        guards: Guards,
        turns: TurnsOf,
        *,
        pool: Pool,
        slice_map: SliceMap,
        clock: Clock,
        health: WorkerHealth,
    ) -> None:
        self._receiver = receiver
        self._turns = turns
        self._actions = actions
        self._guards = guards
        self._handover = handover
        self._pool = pool
        self._slice_map = slice_map
        self._clock = clock
        self._health = health
        self._tell = Periodic(self._tell_backlog, _LOOK_EVERY_S)

    async def run(self, stop: asyncio.Event) -> None:
        """Runs until `stop` is set; a batch that was taken is finished."""
        while not stop.is_set():
            working = until_available(partial(self._round, stop), self._health)
            done = await unless_stopped(working, stop, grace_s=10.0)
            if not done:
                await unless_stopped(asyncio.sleep(self._slice_map.pause_s(IDLE_S)), stop)

    async def _round(self, stop: asyncio.Event) -> int:
        """The number of actions that were ended. An action waits while the server of its slice is away."""
        await self._tell.if_due()
        is_over = False

        async def work(slice_: slices.Slice, _: Sequence[slices.Slice]) -> int:
            nonlocal is_over
            if is_over or stop.is_set():
                return 0
            done = await self._of_slice(slice_)
            is_over = is_over or done.has_no_turn
            return done.ended

        all_of_them = await slices.slices_of(self._pool)
        in_turn = {each.number: [each] for each in _RNG.sample(all_of_them, len(all_of_them))}
        found = await slices.in_slices(self._pool, in_turn, work, patience_s=_PATIENCE_S, at_once=_SLICES_AT_ONCE)
        self._health.ready()
        return sum(found.done)

    async def _of_slice(self, slice_: slices.Slice) -> _Done:
        async with self._actions.taken(slice_, self._receiver, _MOST) as batch:
            most = await self._turns(self._receiver, len(batch.actions)) if batch.actions else 0
            actions = batch.actions[:most]
            if actions:
                refusals = await self._guards(actions)
                kept_back = {*refusals.against, *refusals.unknown}
                holding = [each for each in actions if each not in kept_back]
                handed = await self._handover(batch, holding)
                refused, later = {**handed.against, **refusals.against}, {*handed.unknown, *refusals.unknown}
                done = [each for each in holding if each not in refused and each not in later]
                await self._actions.end(batch, done, refused)
                await self._actions.put_off(batch, later, _LOOK_AGAIN)
                CAMPAIGN_ACTIONS.labels(self._receiver, "refused").inc(len(refused))
                CAMPAIGN_ACTIONS.labels(self._receiver, "done").inc(len(done))
        return _Done(len(actions), has_no_turn=len(actions) < len(batch.actions))

    async def _tell_backlog(self) -> None:
        backlog = await self._actions.backlog(self._receiver)
        CAMPAIGN_ACTIONS_WAITING.labels(self._receiver).set(backlog.deliveries)
        CAMPAIGN_ACTIONS_OLDEST.labels(self._receiver).set(backlog.age_s(self._clock.now()))


async def unguarded(_: Sequence[DueAction]) -> Refusals:
    """The guards of owners whose actions have none."""
    return NONE_REFUSED


def guarded_by(guards: Mapping[str, Guards], stopped: Mapping[str, WhyStopped] = NONE_STOPPED) -> Guards:
    """What each kind of owners has stopped, and the guards of each. An action without an event has no guard; one of
    another kind waits for a process that knows its kind.
    """

    async def refusals(actions: Sequence[DueAction]) -> Refusals:
        against: dict[DueAction, str] = {}
        by_kind: dict[str, list[DueAction]] = {}
        for each in actions:
            if each.owner_kind in stopped and (why := stopped[each.owner_kind](each)) is not None:
                against[each] = why
            elif each.event is not None:
                by_kind.setdefault(each.owner_kind, []).append(each)
        unknown: set[DueAction] = set()
        for kind, some in by_kind.items():
            if kind in guards:
                found = await guards[kind](some)
                against |= found.against
                unknown |= set(found.unknown)
            else:
                unknown |= set(some)
        return Refusals(against, unknown)

    return refusals
