"""The rate limits of this process: requests pass for tokens in its hand, which it fills out of the bucket."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, TypeAlias

import structlog

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.platform.gatherer import Gatherer, PendingRequest
from abacus.platform.rate_limits.decide.bucket import grant, handful, passing, refusal, token_in_s, without
from abacus.platform.rate_limits.store import Buckets
from abacus.platform.rate_limits.types import Permit, Wish

_WITHIN_S: Final = 0.5  # a request waits no longer for a token
_ALONE_FOR_S: Final = 5.0  # after the buckets were out of reach
_ASK_EVERY_S: Final = 0.25  # at most, while an id has nothing left
_IDLE_FOR_S: Final = 2.0
_LOOK_EVERY_S: Final = 1.0
_FORGET_AFTER_S: Final = 120.0
_LARGE: Final = 10  # a handful that is filled before it is empty
_NEVER: Final = -1  # tokens

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Hand:
    """The tokens of an id that this process holds, and the bucket as of the last time that it was asked."""

    id: str
    limit: int
    used_at: float
    tokens: int = 0
    refilled_at: int = -1  # the number of tokens left at which more are taken, so that no request waits for them
    full_at: float = 0.0
    empty_until: float = 0.0
    alone_full_at: float = 0.0  # the bucket of this process, while it counts by itself


_Pending: TypeAlias = PendingRequest[_Hand, None]


class RateLimiter:
    """Lets a minute's requests pass at once, and after that one each time the bucket has room. While the buckets are
    out of reach each process counts by itself.

    `apart` stands before each id, for a service whose requests are counted apart from other services'.
    """

    def __init__(self, buckets: Buckets, clock: Clock, *, apart: str = "") -> None:
        self._buckets = buckets
        self._clock = clock
        self._apart = apart
        self._hands: dict[str, _Hand] = {}
        self._alone_until = 0.0
        self._filling: Gatherer[_Hand, None] = Gatherer(self._fill, gather_s=0, at_once=1)

    async def take(self, id_: str, limit: int) -> Permit:
        """The permit of one request."""
        now = self._now()
        hand = self._hand(self._apart + id_, limit, now)
        while True:
            if hand.tokens > 0:
                return self._passed(hand, now)
            if now < hand.empty_until:
                return refusal(limit, hand.full_at, now)
            if now < self._alone_until:
                return _alone(hand, now)
            try:
                await self._filling.ask(hand)
            except Unavailable as error:
                self._count_alone(error)
            now = self._now()

    async def keep_giving_back(self) -> None:
        """Runs until cancelled: returns tokens that this process does not use."""
        while True:
            await asyncio.sleep(_LOOK_EVERY_S)
            await self.give_back(unused_for_s=_IDLE_FOR_S)

    async def give_back(self, *, unused_for_s: float = 0.0) -> None:
        """Returns the tokens of ids that nobody used for `unused_for_s`. Tokens that cannot be returned lapse."""
        now = self._now()
        idle = [hand for hand in self._hands.values() if now - hand.used_at >= unused_for_s]
        wishes = [Wish(hand.id, hand.limit, -hand.tokens) for hand in idle if hand.tokens]
        for hand in idle:
            hand.tokens = 0
            if now - hand.used_at > _FORGET_AFTER_S:
                del self._hands[hand.id]
        if wishes:
            with suppress(Unavailable, TimeoutError):
                async with asyncio.timeout(_WITHIN_S):
                    grants = await self._buckets.settle(wishes, now)
                for id_, each in grants.items():
                    if (owner := self._hands.get(id_)) is not None:
                        owner.full_at = each.full_at

    async def close(self) -> None:
        await self._filling.close()
        await self.give_back()

    def _hand(self, id_: str, limit: int, now: float) -> _Hand:
        hand = self._hands.get(id_)
        if hand is not None and hand.limit == limit:
            return hand
        size = handful(limit)
        tokens = min(hand.tokens, size) if hand is not None else 0
        full_at = hand.full_at if hand is not None else 0.0
        refilled_at = size // 2 if size >= _LARGE else _NEVER
        new = self._hands[id_] = _Hand(id_, limit, now, tokens=tokens, full_at=full_at, refilled_at=refilled_at)
        return new

    def _passed(self, hand: _Hand, now: float) -> Permit:
        hand.tokens -= 1
        hand.used_at = now
        if hand.tokens == hand.refilled_at and now >= self._alone_until:
            self._filling.beside(self._refill(hand))
        return passing(hand.limit, without(hand.tokens, hand.limit, hand.full_at), now)

    async def _refill(self, hand: _Hand) -> None:
        try:
            await self._filling.ask(hand)
        except Unavailable as error:
            self._count_alone(error)

    async def _fill(self, pending: Sequence[_Pending]) -> None:
        """One transaction for all that wait: for each id a handful, or as many tokens as requests wait."""
        now = self._now()
        waiting = Counter(each.request.id for each in pending)
        hands = {each.request.id: each.request for each in pending}
        wishes = [
            Wish(id_, hand.limit, max(waiting[id_], handful(hand.limit) - hand.tokens)) for id_, hand in hands.items()
        ]
        try:
            async with asyncio.timeout(_WITHIN_S):
                grants = await self._buckets.settle(wishes, now)
        except TimeoutError:
            raise Unavailable("rate limits", f"no answer within {_WITHIN_S:g} s") from None
        if self._alone_until:
            log.info("rate limits are counted together again")
            self._alone_until = 0.0
        for id_, hand in hands.items():
            hand.tokens += grants[id_].tokens
            hand.full_at = grants[id_].full_at
            if not grants[id_].tokens:
                hand.empty_until = now + max(_ASK_EVERY_S, token_in_s(hand.limit, hand.full_at, now))
        for each in pending:
            each.answer(None)

    def _count_alone(self, error: Unavailable) -> None:
        if self._alone_until == 0:
            log.warning("rate limits are counted by each process", away=error)
        self._alone_until = self._now() + _ALONE_FOR_S

    def _now(self) -> float:
        return self._clock.now().timestamp()


def _alone(hand: _Hand, now: float) -> Permit:
    """By the bucket of this process."""
    hand.used_at = now
    got = grant(Wish(hand.id, hand.limit, 1), hand.alone_full_at, now)
    hand.alone_full_at = got.full_at
    return (passing if got.tokens else refusal)(hand.limit, got.full_at, now)
