"""The calculation from messages to awards; the calculator and the retrier both run it.

Deciding and handing over are separate steps, so that the breaker can look at a decision before it has any effect.
"""

import random
from collections.abc import Callable, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Final, TypeVar

from abacus.core.clock import Clock
from abacus.intake.earning.decide.retry import RetryPolicy
from abacus.intake.earning.decide.source_message import encode_retry
from abacus.intake.earning.decider import CardsToProbe, DecidedBatch, MessageDecider, PostedClaims, Tiers
from abacus.ledger.types.award_envelope import encode_award
from abacus.ledger.types.reversal_message import encode_reversal
from abacus.platform.health import WorkerHealth
from abacus.platform.patience import until_available
from abacus.platform.quarantine.store import QuarantinePort
from abacus.platform.slices import SliceMap
from abacus.platform.sqs.packer import pack, pack_compressed
from abacus.platform.sqs.port import Queue, Unsent

Thing = TypeVar("Thing")

_attempt: Final = attrgetter("attempt")
_member_of: Final = attrgetter("member_id")


class PointsIssuer(MessageDecider):
    """Hands over what it decides; awards of different slices in different envelopes."""

    def __init__(
        self,
        *,
        cards: CardsToProbe,
        tiers: Tiers,
        postings: PostedClaims,
        award_queue: Queue,
        retry_queue: Queue,
        quarantine: QuarantinePort,
        retry_policy: RetryPolicy,
        slice_map: SliceMap,
        clock: Clock,
        rng: random.Random,
        health: WorkerHealth,
    ) -> None:
        super().__init__(cards=cards, tiers=tiers, postings=postings, retry_policy=retry_policy, clock=clock)
        self._award_queue = award_queue
        self._retry_queue = retry_queue
        self._quarantine = quarantine
        self._slice_map = slice_map
        self._rng = rng
        self._health = health

    @property
    def worker(self) -> str:
        return self._health.name

    async def hand_over(self, decided: DecidedBatch) -> None:
        """Returns when every decision is durable: on a queue or in the quarantine. Waits as long as that takes."""
        await self._send(self._award_queue, self._envelopes(decided.awards, encode_award))
        await self._send(self._award_queue, self._envelopes(decided.reversals, encode_reversal))
        for attempt, together in groupby(sorted(decided.deferred, key=_attempt), key=_attempt):
            for body in pack("retries", map(encode_retry, together)):
                await self._send(self._retry_queue, [body], delay_s=self._retry_policy.delay_s(attempt, self._rng))
        await until_available(lambda: self._quarantine.add(decided.set_aside), self._health)

    def _envelopes(self, things: Sequence[Thing], encode: Callable[[Thing], bytes]) -> list[str]:
        slices = self._slice_map.by_slice(things, _member_of).values()
        return [packed.body for each in slices for packed in pack_compressed("awards", map(encode, each))]

    async def _send(self, queue: Queue, bodies: list[str], *, delay_s: int = 0) -> None:
        left = bodies

        async def send() -> None:
            nonlocal left
            try:
                await queue.send(left, delay_s=delay_s)
            except Unsent as error:
                left = error.remaining
                raise

        if left:
            await until_available(send, self._health)
