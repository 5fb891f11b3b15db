"""Carries redemptions through: the points are held, stock and codes are taken, and the hold is captured. What has no
points, as a gift of a campaign, moves none.

Each step is a row's stage, or a movement whose key follows from the redemption. So a step that was done is done again
without effect, and whoever finds an unfinished redemption goes on with it. Redemptions that arrive within a few
milliseconds go together.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Final, NamedTuple, TypeAlias

import structlog

from abacus.core.clock import Clock
from abacus.core.errors import Refused, Unavailable
from abacus.engage.rewards.decide.price import Lock, Locked
from abacus.engage.rewards.decide.redemption import (
    HELD_FOR_DAYS,
    Redemption,
    Stage,
    capture_of,
    hold_of,
    release_of,
    reversal_of,
)
from abacus.engage.rewards.deliveries import Deliveries
from abacus.engage.rewards.redemption_rows import LimitsOf, RedemptionRows, Step
from abacus.ledger.types.movement import Decline, Declined, Moved, Movement, MovesPort
from abacus.ledger.types.port import Status, Unpostable
from abacus.platform.gatherer import Gatherer, PendingRequest
from abacus.pricing.decide.book import CardBook

GATHER_S: Final = 0.002
MOST_TOGETHER: Final = 200
AT_ONCE: Final = 3  # while one batch waits for a commit, others decide
STALE_AFTER: Final = timedelta(seconds=10)
_LOOK_EVERY_S: Final = 1.0
_BACK: Final = frozenset({Stage.CANCELLING, Stage.RETURNING})
_LET_GO: Final = Locked(Lock.HOLD, "the points were let go before they could be taken")
_TURNS: Final = 2  # what cannot be delivered is let go in the second
_DONE: Final = frozenset({Status.POSTED, Status.DUPLICATE})

log = structlog.get_logger(__name__)


class KeyReused(Refused):
    """The key is that of another redemption."""


class Order(NamedTuple):
    """A redemption as it is asked for: a draft, or why the member cannot have it. What was asked before under its key
    stands, whatever it would be now.
    """

    key: str
    fingerprint: str
    draft: Redemption | None
    locked: Locked | None = None


_Request: TypeAlias = PendingRequest[Order, Redemption]


class Redeemer:
    """One for each process; any number of them share the work. `close` waits for the redemptions in progress."""

    def __init__(
        self,
        rows: RedemptionRows,
        moves: MovesPort,
        limits_of: LimitsOf,
        book: Callable[[], CardBook],
        clock: Clock,
        *,
        deliveries: Deliveries,
    ) -> None:
        self._rows = rows
        self._moves = moves
        self._limits_of = limits_of
        self._book = book
        self._clock = clock
        self._deliveries = deliveries
        self._gatherer: Gatherer[Order, Redemption] = Gatherer(
            self._do, gather_s=GATHER_S, most_together=MOST_TOGETHER, at_once=AT_ONCE
        )

    @property
    def rows(self) -> RedemptionRows:
        """The rows that it writes."""
        return self._rows

    async def redeem(self, order: Order) -> Redemption:
        """The redemption, which has ended in one way or another. Raises `Locked` for what the member cannot have,
        `KeyReused`, and `Unavailable` when the result is not known: it is gone on with, and a repetition under the same
        key tells it.
        """
        return await self._gatherer.ask(order)

    async def close(self) -> None:
        await self._gatherer.close()

    async def keep_finishing(self) -> None:
        """Until cancelled: goes on with what a process left unfinished."""
        while True:
            try:
                while await self.finish_stale():
                    pass
            except Unavailable as error:
                log.warning("redemptions are not finished", away=error)
            await asyncio.sleep(_LOOK_EVERY_S)

    async def finish_stale(self, after: timedelta = STALE_AFTER) -> int:
        """Goes on with some redemptions that nothing has happened to for a while; returns how many have ended. Raises
        `Unavailable`.
        """
        stale = await self._rows.stale(self._clock.now() - after, MOST_TOGETHER)
        carried = await self.carry(stale)
        return sum(each.ended for each in carried.values())

    async def carry(self, redemptions: Iterable[Redemption]) -> Mapping[str, Redemption]:
        """Goes on with redemptions until they have ended, as far as the ledger can be reached; returns them by key.
        Raises `Unavailable`.
        """
        rows = {each.key: each for each in redemptions}
        if opened := [each for each in rows.values() if each.stage == Stage.OPENED]:
            held = await self._held(opened)
            if held:
                await self._rows.take(held, self._limits_of, self._clock.now())
            rows = dict(await self._rows.of_keys(rows))
            await self._let_go([rows[key] for key in held if rows[key].stage == Stage.REFUSED])
        for _ in range(_TURNS):
            if waiting := [each for each in rows.values() if not each.ended and each.stage != Stage.OPENED]:
                await self._settle(waiting)
                rows = dict(await self._rows.of_keys(rows))
        return rows

    async def _do(self, together: Sequence[_Request]) -> None:
        orders = {each.request.key: each.request for each in together}
        drafts = [each.draft for each in orders.values() if each.draft is not None]
        rows = dict(await self._rows.opened(drafts, orders))
        rows |= await self.carry([each for each in rows.values() if not each.ended])
        for each in together:
            _answer(each, rows.get(each.request.key))

    async def _held(self, opened: Sequence[Redemption]) -> list[str]:
        """The keys of redemptions whose points are held. Those of others are refused."""
        now = self._clock.now()
        until = now + timedelta(days=HELD_FOR_DAYS)
        moved = await self._moved(opened, lambda each: hold_of(each, until))
        refused = [
            Step(key, Stage.OPENED, Stage.REFUSED, Lock.POINTS, None if one.fault is None else one.fault.detail)
            for key, one in moved.items()
            if one.status in {Status.REFUSED, Status.CONFLICT}
        ]
        if refused:
            await self._rows.step(refused, now)
        return [each.key for each in opened if each.key not in moved or moved[each.key].status in _DONE]

    async def _let_go(self, refused: Sequence[Redemption]) -> None:
        """Another process refused them before the points were held here."""
        if refused:
            await self._moved(refused, release_of)

    async def _settle(self, waiting: Sequence[Redemption]) -> None:
        """Captures what is taken, lets go what is refused, and gives back what is cancelled or returned."""
        now = self._clock.now()
        against = await self._deliveries.before_payment([each for each in waiting if each.stage == Stage.TAKEN])
        staying = await self._deliveries.take_back([each for each in waiting if each.stage in _BACK])
        going = [each for each in waiting if each.key not in against and each.key not in staying]
        moved = await self._moved(going, self._movement)
        done = [each for each in going if _is_done(moved.get(each.key))]
        lost = [each for each in going if each.stage == Stage.TAKEN and _is_lost(moved.get(each.key))]
        await self._deliveries.take_back([each for each in lost if each.offer is not None])
        await self._deliveries.after_payment([each for each in done if each.stage in {Stage.TAKEN, Stage.CANCELLING}])
        cancelled = [each.key for each in done if each.stage == Stage.CANCELLING]
        steps = [_step(each) for each in done if each.stage != Stage.CANCELLING]
        kept = [
            Step(each.key, each.stage, Stage.GIVEN, None, staying[each.key]) for each in waiting if each.key in staying
        ]
        if steps or kept:
            await self._rows.step([*steps, *kept], now)
        if against:
            await self._rows.untake(against, Stage.TAKEN, Stage.RELEASING, now)
        if lost:
            await self._rows.untake({each.key: _LET_GO for each in lost}, Stage.TAKEN, Stage.REFUSED, now)
        if cancelled:
            await self._rows.untake(dict.fromkeys(cancelled), Stage.CANCELLING, Stage.CANCELLED, now)

    def _movement(self, each: Redemption) -> Movement:
        match each.stage:
            case Stage.TAKEN:
                return capture_of(each)
            case Stage.RELEASING:
                return release_of(each)
            case _:
                now = self._clock.now()
                return reversal_of(each, self._book().in_force(each.country, now), now)

    async def _moved(
        self, some: Sequence[Redemption], movement: Callable[[Redemption], Movement]
    ) -> Mapping[str, Moved]:
        """The fate of each movement, by the key of its redemption. Raises `Unavailable`."""
        paid = [each for each in some if each.points]
        moved = await self._move([movement(each) for each in paid]) if paid else []
        return {each.key: one for each, one in zip(paid, moved, strict=True)}

    async def _move(self, movements: Sequence[Movement]) -> list[Moved]:
        """Raises `Unavailable`. A movement that the store refuses is refused by itself."""
        try:
            return await self._moves.move(movements)
        except Unpostable as error:
            if len(movements) > 1:
                return [one for each in movements for one in await self._move([each])]
            log.exception("points cannot be moved", key=movements[0].key)
            raise Unavailable("ledger", "the movement cannot be posted") from error


def _answer(waiting: _Request, found: Redemption | None) -> None:
    order = waiting.request
    if found is None:
        waiting.refuse(order.locked or Unavailable("rewards", "the redemption was not opened"))
    elif found.fingerprint != order.fingerprint:
        waiting.refuse(KeyReused(f"{order.key} is the key of another redemption"))
    elif not found.ended:
        waiting.refuse(Unavailable("ledger", "the redemption is gone on with"))
    elif found.stage == Stage.REFUSED:
        waiting.refuse(Locked(Lock(found.reason or Lock.HOLD), found.detail or ""))
    else:
        waiting.answer(found)


def _step(each: Redemption) -> Step:
    match each.stage:
        case Stage.TAKEN:
            to = Stage.GIVEN if each.webhook is None else Stage.SENT
        case Stage.RELEASING:
            to = Stage.REFUSED
        case _:
            to = Stage.RETURNED
    return Step(each.key, each.stage, to, each.reason, each.detail)


def _is_lost(one: Moved | None) -> bool:
    """The points were let go before they could be captured."""
    return one is not None and one.status is Status.REFUSED


def _is_done(one: Moved | None) -> bool:
    """Points that were let go before are free, and points that somebody gave back before are back."""
    if one is None or one.status in _DONE:
        return True
    if one.status is not Status.REFUSED or not isinstance(one.fault, Declined):
        return False
    return one.fault.reason in _DONE_BEFORE.get(type(one.movement).__name__, ())


_DONE_BEFORE: Final = {
    "Release": (Decline.HOLD_NOT_OPEN, Decline.NO_SUCH_HOLD),
    "Reversal": (Decline.REVERSED_ALREADY,),
}
