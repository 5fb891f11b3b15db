"""Holding offers for members: requests of some milliseconds are one transaction in each slice.

A request is entered before anything counts: where its key is there, the first answer is given again, and nothing is
taken. Locks have one order: takers, pots, then the keys that are entered, each sorted (docs/adr/0112).
"""

import random
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Final, NamedTuple, TypeAlias

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.engage.limits.decide.pots import Limited, Pot, limited_by
from abacus.engage.limits.pot_store import SLOTS, PotStore
from abacus.engage.offers.decide.grant import Granted, Taken, grant
from abacus.engage.offers.decide.outcomes import Outcome, happened
from abacus.engage.offers.decide.reservation import (
    LimitReached,
    OtherFacts,
    Reservation,
    ReservationStatus,
    Wish,
    pots_bits,
    reservation_id,
)
from abacus.engage.offers.reservation_rows import enter, lock_uses, of_keys, of_request
from abacus.engage.offers.round_sizes import sized
from abacus.engage.offers.spent import WatchedPots
from abacus.engage.offers.sums import add_sums, taken_before
from abacus.platform import slices
from abacus.platform.gatherer import Gatherer, PendingRequest
from abacus.platform.key_register import entered
from abacus.platform.postgres import Connection, Pool

_GATHER_S: Final = 0.004
_MOST_TOGETHER: Final = 400
_ROUNDS_AT_ONCE: Final = 2
_MOST_WAITING: Final = 10_000
_PATIENCE_S: Final = 5.0
_REMEMBERS_S: Final = 0.2  # that a limit is reached: by then somebody may have given back
_RNG: Final = random.Random()

# Lets go of what is overdue of these offers; returns how many reservations that were.
LetGo: TypeAlias = Callable[[Sequence[str]], Awaitable[int]]

Group: TypeAlias = tuple[Wish, ...]  # of one request: all or none
Answer: TypeAlias = "Held | LimitReached | OtherFacts"


class Held(NamedTuple):
    """What is held for a request; `replayed` where that was so since an earlier request with this key."""

    reservations: Sequence[Reservation]
    replayed: bool


_Request: TypeAlias = PendingRequest[Group, Held]


class _Overtaken(Exception):
    """Another process has entered one of these keys meanwhile."""


def drawn_slot() -> int:
    """The slot of a process, by chance."""
    return _RNG.randrange(SLOTS)


def pots_of_offers(pool: Pool, slot: int) -> WatchedPots:
    """The pots of offers, for a process that has this slot."""
    return WatchedPots(pool, slot, taken_before, remembers_s=_REMEMBERS_S)


def unwatched_pots(pool: Pool, slot: int) -> PotStore:
    """The same where nobody looks which of them are empty."""
    return PotStore(pool, slot, taken_before, remembers_s=_REMEMBERS_S)


class Reservations:
    """One for each process. `close` waits for the requests in progress."""

    def __init__(
        self,
        pool: Pool,
        clock: Clock,
        pots: PotStore,
        let_go: LetGo,
        *,
        slot: int,
        gather_s: float = _GATHER_S,
        most_together: int = _MOST_TOGETHER,
    ) -> None:
        self._pool = pool
        self._clock = clock
        self._pots = pots
        self._let_go = let_go
        self._slot = slot
        self._gatherer: Gatherer[Group, Held] = Gatherer(
            sized(self._round, "reserve"), gather_s=gather_s, most_together=most_together, at_once=_ROUNDS_AT_ONCE
        )

    async def reserve(self, wishes: Sequence[Wish]) -> Held:
        """Holds the offers of a request, all or none. Raises `LimitReached`, `OtherFacts` and `Unavailable`: nothing
        is held then.
        """
        if self._gatherer.waiting >= _MOST_WAITING:
            raise Unavailable("database", "too many reservations wait for it")
        return await self._gatherer.ask(tuple(wishes))

    async def earlier(self, member_id: str, key: str, fingerprint: str) -> Held | None:
        """What an earlier request with this key has held, if there was one. Raises `OtherFacts` and `Unavailable`."""
        async with slices.at(self._pool, member_id) as connection:
            known = await of_request(connection, key)
        if not known:
            return None
        if known[0].fingerprint != fingerprint:
            raise OtherFacts(key)
        return Held(known, replayed=True)

    async def close(self) -> None:
        await self._gatherer.close()

    async def _round(self, together: Sequence[_Request]) -> None:
        own = await self._with_own_keys(together)
        split = await slices.split(
            self._pool, own, self._in_slice, member_of=lambda each: each.request[0].member_id, patience_s=_PATIENCE_S
        )
        for waiting in split.waiting:
            waiting.refuse(split.errors[0])

    async def _with_own_keys(self, together: Sequence[_Request]) -> Sequence[_Request]:
        """A key that a member of another slice came with first is used for another request."""
        slice_map = await slices.slice_map_of(self._pool)
        if slice_map.slices == 1:
            return together
        wanted: dict[str, int] = {}
        for each in together:
            wanted.setdefault(each.request[0].key, slice_map.slice_of(each.request[0].member_id))
        holders, own = await entered(self._pool, wanted), list[_Request]()
        for each in together:
            first = each.request[0]
            if holders[first.key] == slice_map.slice_of(first.member_id):
                own.append(each)
            else:
                each.refuse(OtherFacts(first.key))
        return own

    async def _in_slice(self, slice_: slices.Slice, part: Sequence[_Request]) -> None:
        groups: dict[str, Group] = {}
        for each in part:
            groups.setdefault(each.request[0].key, each.request)
        answers = await self._answers(slice_, groups)
        short = {key: each.offer for key, each in answers.items() if isinstance(each, LimitReached) and each.of_all}
        if short and await self._let_go(sorted(set(short.values()))):
            answers |= await self._answers(slice_, {key: groups[key] for key in short})
        for each in part:
            _tell(each, groups[each.request[0].key], answers[each.request[0].key])

    async def _answers(self, slice_: slices.Slice, groups: Mapping[str, Group]) -> dict[str, Answer]:
        limited = partial(_limited, groups.values())
        while True:
            try:
                return await self._pots.within(slice_, limited, partial(self._work, slice_.number, groups))
            except _Overtaken:
                continue

    async def _work(
        self, number: int, groups: Mapping[str, Group], connection: Connection, whole: Collection[Pot]
    ) -> dict[str, Answer]:
        """Raises `Short` and `_Overtaken`."""
        known = await of_keys(connection, [wish.key for group in groups.values() for wish in group])
        answers: dict[str, Answer] = {
            key: _as_before(group, known) for key, group in groups.items() if group[0].key in known
        }
        new = {key: group for key, group in groups.items() if key not in answers}
        if not new:
            return answers
        granted = await self._grant(connection, new.values(), whole)
        made: list[Reservation] = []
        for (key, group), refusal in zip(new.items(), granted.refusals, strict=True):
            if refusal is not None:
                answers[key] = refusal
            else:
                held = [_reservation(wish, number) for wish in group]
                answers[key] = Held(held, replayed=False)
                made += held
        # Another process may have entered a key meanwhile, and taken what is missing here. Where it settles the
        # reservation by now, it may wait for these locks, and an insert would wait for it.
        if await of_keys(connection, [wish.key for group in new.values() for wish in group]):
            raise _Overtaken
        if made:
            if not await enter(connection, made):
                raise _Overtaken
            await add_sums(connection, (happened(one, Outcome.RESERVED) for one in made), self._slot)
        return answers

    async def _grant(self, connection: Connection, groups: Iterable[Group], whole: Collection[Pot]) -> Granted:
        wanted = [[_taken(wish) for wish in group] for group in groups]
        counted = {each.place for each in chain.from_iterable(wanted) if each.counts_by_member}
        uses = await lock_uses(connection, counted, self._clock.now())
        pots = await self._pots.lock(connection, _limited_of(chain.from_iterable(wanted)), whole)
        granted = grant(wanted, uses, pots.left, {*whole, *pots.remembered})
        if granted.taken:
            await self._pots.take(connection, pots, granted.taken)
        return granted


def _as_before(group: Group, known: Mapping[str, Reservation]) -> Answer:
    if any(wish.key not in known or known[wish.key].fingerprint != wish.fingerprint for wish in group):
        return OtherFacts(group[0].key)
    return Held([known[wish.key] for wish in group], replayed=True)


def _tell(pending: _Request, first: Group, answer: Answer) -> None:
    if isinstance(answer, Held):
        if pending.request is not first:  # two with one key, in one round
            if pending.request[0].fingerprint != first[0].fingerprint:
                pending.refuse(OtherFacts(first[0].key))
                return
            answer = answer._replace(replayed=True)
        pending.answer(answer)
    else:
        pending.refuse(answer)


def _taken(wish: Wish) -> Taken:
    return Taken(wish.offer, wish.member_id, wish.at, wish.day, wish.amounts)


def _limited(groups: Iterable[Group]) -> Mapping[Pot, Limited]:
    return _limited_of(_taken(wish) for group in groups for wish in group)


def _limited_of(taken: Iterable[Taken]) -> Mapping[Pot, Limited]:
    limited: dict[Pot, Limited] = {}
    for each in taken:
        limited |= limited_by(each.offer, each.at)
    return limited


def _reservation(wish: Wish, slice_number: int) -> Reservation:
    amounts = wish.amounts
    return Reservation(
        key=wish.key,
        member_id=wish.member_id,
        reservation_id=reservation_id(wish.key, slice_number),
        offer=wish.offer.name,
        version=wish.offer.version,
        country=wish.offer.country,
        caller=wish.caller,
        fingerprint=wish.fingerprint,
        items=wish.items,
        currency=wish.gain.currency,
        saves=wish.gain.saves,
        points=amounts.points,
        cost=amounts.cost,
        day=wish.day,
        pots=pots_bits(wish.offer),
        reserved_at=wish.at,
        until=wish.until,
        status=ReservationStatus.HELD,
    )
