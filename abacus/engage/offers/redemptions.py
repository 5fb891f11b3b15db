"""Redeeming and releasing what is held, and rolling back what was redeemed: requests of some milliseconds are one
transaction in each slice. It locks the reservations first, then what `reservations.py` locks.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Final, NamedTuple, TypeAlias
from uuid import UUID

from abacus.core.clock import Clock
from abacus.core.errors import Refused, Unavailable, absent
from abacus.core.ids import redemption_key
from abacus.engage.actions.action_store import drop, plan
from abacus.engage.limits.decide.pots import Limited, Pot, limited_by
from abacus.engage.limits.pot_store import PotStore
from abacus.engage.offers.decide.grant import Granted, Taken, grant
from abacus.engage.offers.decide.redemption_points import points_taken_back
from abacus.engage.offers.decide.reservation import Redemption, Reservation, redemption_id, slice_of_id
from abacus.engage.offers.decide.settlement import (
    Redeeming,
    RolledBack,
    RollingBack,
    Settlement,
    Settling,
    is_over,
    rolled_back,
    settled,
    what_happened,
    what_was_rolled_back,
)
from abacus.engage.offers.reservation_rows import (
    enter_redemptions,
    given_back,
    has_rolled_back,
    lock_reservation,
    lock_reservations,
    lock_uses,
    of_id,
    redemptions_of,
    roll_back,
    settle,
)
from abacus.engage.offers.round_sizes import sized
from abacus.engage.offers.sums import add_sums
from abacus.platform import slices
from abacus.platform.gatherer import Gatherer, PendingRequest
from abacus.platform.postgres import Also, Connection, Pool

_GATHER_S: Final = 0.004
_MOST_TOGETHER: Final = 400
_ROUNDS_AT_ONCE: Final = 2
_PATIENCE_S: Final = 5.0
_MOST_WAITING: Final = 10_000
_AFTER_THE_AWARD: Final = timedelta(minutes=1)  # points are taken back: by then the queue has brought them

Answer: TypeAlias = Settlement | Refused
_Request: TypeAlias = PendingRequest[Settling, Settlement]


class _Settled(NamedTuple):
    """What comes of a request, and what the reservation was before."""

    before: Reservation
    after: Settlement


class Redemptions:
    """One for each process. `close` waits for the requests in progress."""

    def __init__(
        self,
        pool: Pool,
        clock: Clock,
        pots: PotStore,
        *,
        slot: int,
        gather_s: float = _GATHER_S,
        most_together: int = _MOST_TOGETHER,
    ) -> None:
        self._pool = pool
        self._clock = clock
        self._pots = pots
        self._slot = slot
        self._gatherer: Gatherer[Settling, Settlement] = Gatherer(
            sized(self._round, "settle"), gather_s=gather_s, most_together=most_together, at_once=_ROUNDS_AT_ONCE
        )

    async def reserved(self, reservation_id: UUID, caller: str) -> Reservation:
        """The caller's reservation. Raises `Absent` and `Unavailable`."""
        async with (await self._slice_of("reservation", reservation_id)).at() as connection:
            found = await of_id(connection, reservation_id)
        if found is None or found.caller != caller:
            raise absent("reservation", reservation_id)
        return found

    async def settle(self, settling: Settling) -> Settlement:
        """Redeems or releases a reservation. A repetition gets the first answer. Raises `Refused` and `Unavailable`:
        nothing has changed then.
        """
        await self._slice_of("reservation", settling.reservation_id)
        if self._gatherer.waiting >= _MOST_WAITING:
            raise Unavailable("database", "too many redemptions wait for it")
        return await self._gatherer.ask(settling)

    async def redeemed(self, redemption: UUID, caller: str) -> Redemption:
        """The caller's redemption. Raises `Absent` and `Unavailable`."""
        async with (await self._slice_of("redemption", redemption)).at() as connection:
            found = (await redemptions_of(connection, [redemption])).get(redemption)
        if found is None or found.caller != caller:
            raise absent("redemption", redemption)
        return found

    async def roll_back(self, order: RollingBack, *, also: Also | None = None) -> Redemption:
        """Rolls back a redemption, or a part of it, once a key; `also` is done in the same transaction. Raises
        `Refused` and `Unavailable`.
        """
        slice_ = await self._slice_of("redemption", order.redemption_id)
        async with slice_.within() if also is None else slice_.together(also) as connection:
            found = (await redemptions_of(connection, [order.redemption_id])).get(order.redemption_id)
            if found is None or found.caller != order.caller:
                raise absent("redemption", order.redemption_id)
            before = await lock_reservation(connection, found.reservation_key)
            redemption = (await redemptions_of(connection, [order.redemption_id]))[order.redemption_id]
            if is_over(order, before) or await has_rolled_back(connection, redemption, order.key):
                return redemption
            done = rolled_back(order, redemption, before)
            await self._write_rollback(connection, order, before, done)
            return done.redemption

    async def close(self) -> None:
        await self._gatherer.close()

    async def _write_rollback(
        self, connection: Connection, order: RollingBack, before: Reservation, done: RolledBack
    ) -> None:
        now, after = self._clock.now(), done.redemption
        await roll_back(connection, after, order.key, now)
        if done.less.points and not await drop(connection, after.member_id, redemption_key(after.redemption_id), now):
            await plan(connection, [points_taken_back(after, order.card, now, now + _AFTER_THE_AWARD)], now)
        await settle(connection, [done.reservation], now)
        await self._pots.give_back(connection, given_back([(before, done.less)]))
        on = now.astimezone(order.card.card.zone).date()
        await add_sums(connection, [what_was_rolled_back(done, on)], self._slot)

    async def _slice_of(self, thing: str, id_: UUID) -> slices.Slice:
        """Where an id lies. Raises `Absent` for one that was never given out."""
        number, all_of_them = slice_of_id(id_), await slices.slices_of(self._pool)
        if number >= len(all_of_them):
            raise absent(thing, id_)
        return all_of_them[number]

    async def _round(self, together: Sequence[_Request]) -> None:
        parts: dict[int, list[_Request]] = {}
        for each in together:
            parts.setdefault(slice_of_id(each.request.reservation_id), []).append(each)
        split = await slices.in_slices(self._pool, parts, self._in_slice, patience_s=_PATIENCE_S)
        for waiting in split.waiting:
            waiting.refuse(split.errors[0])

    async def _in_slice(self, slice_: slices.Slice, part: Sequence[_Request]) -> None:
        """Requests for one reservation come one after the other."""
        while part:
            firsts: dict[UUID, _Request] = {}
            for each in part:
                firsts.setdefault(each.request.reservation_id, each)
            later = [each for each in part if firsts[each.request.reservation_id] is not each]
            settling = {id_: each.request for id_, each in firsts.items()}
            limited = partial(_limited, settling.values())
            answers = await self._pots.within(slice_, limited, partial(self._work, settling))
            for id_, answer in answers.items():
                if isinstance(answer, Settlement):
                    firsts[id_].answer(answer)
                else:
                    firsts[id_].refuse(answer)
            part = later

    async def _work(
        self, settling: Mapping[UUID, Settling], connection: Connection, whole: Collection[Pot]
    ) -> Mapping[UUID, Answer]:
        """Raises `Short`."""
        now = self._clock.now()
        found = await lock_reservations(connection, settling)
        redeemed = await redemptions_of(connection, [redemption_id(id_) for id_ in found])
        answers: dict[UUID, Answer] = {}
        for id_, each in settling.items():
            try:
                answers[id_] = settled(each, found.get(id_), redeemed.get(redemption_id(id_)), now)
            except Refused as refusal:
                answers[id_] = refusal
        answers |= await self._refused(connection, answers, whole)
        done = [
            _Settled(found[id_], answer)
            for id_, answer in answers.items()
            if isinstance(answer, Settlement) and not answer.replayed
        ]
        if done:
            await self._write(connection, done)
        return answers

    async def _refused(
        self, connection: Connection, answers: Mapping[UUID, Answer], whole: Collection[Pot]
    ) -> dict[UUID, Answer]:
        """The requests that take more than was reserved, and more than a limit leaves."""
        wanted = {
            id_: answer.more
            for id_, answer in answers.items()
            if isinstance(answer, Settlement) and answer.more is not None
        }
        if not wanted:
            return {}
        granted = await self._grant(connection, list(wanted.values()), whole)
        return {id_: refusal for id_, refusal in zip(wanted, granted.refusals, strict=True) if refusal is not None}

    async def _grant(self, connection: Connection, wanted: Sequence[Taken], whole: Collection[Pot]) -> Granted:
        counted = {each.place for each in wanted if each.counts_by_member}
        uses = await lock_uses(connection, counted, self._clock.now())
        limited: dict[Pot, Limited] = {}
        for each in wanted:
            limited |= limited_by(each.offer, each.at)
        pots = await self._pots.lock(connection, limited, whole)
        granted = grant([[each] for each in wanted], uses, pots.left, {*whole, *pots.remembered})
        if granted.taken:
            await self._pots.take(connection, pots, granted.taken)
        return granted

    async def _write(self, connection: Connection, done: Sequence[_Settled]) -> None:
        now = self._clock.now()
        await settle(connection, [each.after.reservation for each in done], now)
        await enter_redemptions(connection, [each.after.redemption for each in done if each.after.redemption])
        await self._pots.give_back(connection, given_back((each.before, each.after.less) for each in done))
        await plan(connection, [each.after.award for each in done if each.after.award], now)
        await add_sums(connection, (one for each in done for one in what_happened(*each)), self._slot)


def _limited(settling: Collection[Settling]) -> Mapping[Pot, Limited]:
    """The pots from which these may take more than was reserved."""
    limited: dict[Pot, Limited] = {}
    for each in settling:
        if isinstance(each, Redeeming):
            limited |= limited_by(each.offer, each.reserved_at)
    return limited
