"""Sending what is due: many at once, few to each receiver, so that a slow one holds up nobody else. One that failed
last gets one at a time until one succeeds.

A message is taken for a while. When a worker is killed, another one takes it after that while and sends it again, under
the same id.
"""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Mapping
from typing import Final, Protocol

import structlog

from abacus.core.backoff import Backoff
from abacus.core.clock import Clock
from abacus.intake.partners.webhooks.decide.schedule import BACKOFF, Answer, Outcome, verdict
from abacus.intake.partners.webhooks.decide.signature import signed_headers
from abacus.intake.partners.webhooks.delivery import Delivery
from abacus.intake.partners.webhooks.outbox import Outbox
from abacus.platform.health import WorkerHealth
from abacus.platform.metrics import WEBHOOKS, WEBHOOKS_OLDEST, WEBHOOKS_WAITING
from abacus.platform.patience import unless_stopped, until_available

AT_ONCE: Final = 64
PER_PARTNER: Final = 8
_IDLE_S: Final = 0.5
_TAKE_WITHIN_S: Final = 3.0
_DRAIN_S: Final = 20.0  # a try takes less
_COUNT_EVERY_S: Final = 15.0

log = structlog.get_logger(__name__)


class Post(Protocol):
    """Sends to a receiver."""

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer: ...


class Sender:
    """One for each process; any number of them share the work."""

    def __init__(
        self,
        outbox: Outbox,
        poster: Post,
        clock: Clock,
        health: WorkerHealth,
        *,
        rng: random.Random,
        backoff: Backoff = BACKOFF,
        at_once: int = AT_ONCE,
        per_partner: int = PER_PARTNER,
    ) -> None:
        self._outbox = outbox
        self._poster = poster
        self._clock = clock
        self._health = health
        self._rng = rng
        self._backoff = backoff
        self._at_once = at_once
        self._per_partner = per_partner
        self._under_way: dict[asyncio.Task[None], str] = {}
        self._failing: set[str] = set()
        self._counted_at = float("-inf")

    async def run(self, stop: asyncio.Event) -> None:
        """Until `stop` is set; then what is under way is finished, or left to be sent again."""
        stopping = asyncio.ensure_future(stop.wait())
        try:
            while not stop.is_set():
                taking = until_available(self._take, self._health)
                await unless_stopped(taking, stop, grace_s=_TAKE_WITHIN_S)
                await asyncio.wait((*self._under_way, stopping), timeout=_IDLE_S, return_when=asyncio.FIRST_COMPLETED)
                self._forget_finished()
            if self._under_way:
                await asyncio.wait(self._under_way, timeout=_DRAIN_S)
                self._forget_finished()
        finally:
            stopping.cancel()
            for task in self._under_way:
                task.cancel()
            await asyncio.gather(*self._under_way, return_exceptions=True)

    async def _take(self) -> None:
        room = self._at_once - len(self._under_way)
        if room:
            under_way = Counter(self._under_way.values())
            under_way.update(dict.fromkeys(self._failing, self._per_partner - 1))
            taken = await self._outbox.take(room, per_partner=self._per_partner, under_way=under_way)
            for delivery in taken:
                self._under_way[asyncio.create_task(self._deliver(delivery))] = delivery.partner_id
        if time.monotonic() - self._counted_at >= _COUNT_EVERY_S:
            await self._outbox.prune()
            await self._count()
        self._health.ready()

    def _forget_finished(self) -> None:
        for task in [task for task in self._under_way if task.done()]:
            partner_id = self._under_way.pop(task)
            if error := task.exception():  # a bug; the message is sent again when its time comes, and so are all others
                log.error("webhook failed", partner=partner_id, exc_info=error)

    async def _deliver(self, delivery: Delivery) -> None:
        body = delivery.body.encode()
        timestamp = int(self._clock.now().timestamp())
        headers = signed_headers(delivery.secrets, delivery.message_id, timestamp, body)
        answer = await self._poster.post(delivery.url, headers, body)
        await until_available(lambda: self._settle(delivery, answer), self._health)

    async def _settle(self, delivery: Delivery, answer: Answer) -> None:
        found = verdict(
            answer,
            self._clock.now(),
            attempts=delivery.attempts,
            retry_until=delivery.retry_until,
            backoff=self._backoff,
            rng=self._rng,
        )
        if found.outcome is Outcome.DELIVERED:
            self._failing.discard(delivery.partner_id)
        else:
            self._failing.add(delivery.partner_id)
        if found.outcome is not Outcome.GONE:
            await self._outbox.settle(delivery, answer, found)
        elif await self._outbox.disable(delivery, answer):
            log.warning("webhook disabled", partner=delivery.partner_id, url=delivery.url, why=answer.detail)
        if found.outcome is Outcome.GIVEN_UP:
            log.warning("message given up", id=delivery.message_id, partner=delivery.partner_id, why=answer.detail)
        WEBHOOKS.labels(delivery.type, found.outcome).inc()

    async def _count(self) -> None:
        waiting = await self._outbox.waiting()
        self._counted_at = time.monotonic()
        age_s = (self._clock.now() - waiting.oldest).total_seconds() if waiting.oldest is not None else 0
        WEBHOOKS_OLDEST.set(max(0, age_s))
        WEBHOOKS_WAITING.set(waiting.messages)
