"""Sends due messages to partners: many at once, few to each partner, so that a slow partner holds up no other."""

import random
from collections.abc import Mapping
from typing import Final, Protocol

import structlog

from abacus.core.backoff import Backoff
from abacus.core.clock import Clock
from abacus.intake.partners.metrics import WEBHOOKS, WEBHOOKS_OLDEST, WEBHOOKS_WAITING
from abacus.intake.partners.store import former_webhook_secret_of, webhook_secret_of
from abacus.intake.partners.webhooks.decide.delivery import BACKOFF, Delivery, retry_until
from abacus.intake.partners.webhooks.outbox import WebhookOutbox
from abacus.platform.delivery.decide.reply import Reply, waits_until
from abacus.platform.delivery.decide.schedule import Schedule
from abacus.platform.delivery.decide.signature import signed_headers
from abacus.platform.delivery.deliverer import IDLE_S, Deliverer, Periodic
from abacus.platform.delivery.types import Answer, Concurrency, DeliveryOutcome, Said, Settled
from abacus.platform.encryption import Secrets, SecretUnreadable
from abacus.platform.health import WorkerHealth

CONCURRENCY: Final = Concurrency(at_once=64, per_receiver=8)
_PRUNE_AND_COUNT_EVERY_S: Final = 15.0

log = structlog.get_logger(__name__)


class Post(Protocol):
    """Sends to a receiver."""

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Reply: ...


_AS_THEY_ARE: Final = Secrets()


def webhook_sender(
    outbox: WebhookOutbox,
    poster: Post,
    clock: Clock,
    health: WorkerHealth,
    *,
    rng: random.Random,
    backoff: Backoff = BACKOFF,
    concurrency: Concurrency = CONCURRENCY,
    secrets: Secrets = _AS_THEY_ARE,
    idle_s: float = IDLE_S,
) -> Deliverer[Delivery]:
    """One for each process; any number of them share the work."""

    async def attempt(delivery: Delivery) -> Answer:
        body, now, (url, secret, former) = delivery.body.encode(), clock.now(), delivery.webhook
        try:
            valid = await webhook_secrets(secrets, delivery.partner_id, secret, former)
        except SecretUnreadable as fault:  # it may be readable in an hour, and other partners' are
            return Answer(Said.FAILED, str(fault))
        headers = signed_headers(valid, delivery.message_id, int(now.timestamp()), body)
        reply = await poster.post(url, headers, body)
        return Answer(reply.said, reply.detail, reply.status, waits_until(reply.retry_after, clock.now()))

    async def prune_and_count() -> None:
        await outbox.prune()
        waiting = await outbox.waiting()
        WEBHOOKS_OLDEST.set(waiting.age_s(clock.now()))
        WEBHOOKS_WAITING.set(waiting.deliveries)

    return Deliverer(
        outbox,
        attempt,
        Schedule(backoff, retry_until, rng),
        concurrency,
        clock=clock,
        health=health,
        on_settled=_on_settled,
        idle_s=idle_s,
        periodically=[Periodic(prune_and_count, _PRUNE_AND_COUNT_EVERY_S)],
    )


async def webhook_secrets(secrets: Secrets, partner_id: str, secret: str, former: str | None) -> tuple[str, ...]:
    """The valid secrets of a webhook, from the stored texts. Raises `SecretUnreadable`."""
    current = await secrets.read(secret, webhook_secret_of(partner_id))
    if former is None:
        return (current,)
    return (current, await secrets.read(former, former_webhook_secret_of(partner_id)))


def _on_settled(settled: Settled[Delivery]) -> None:
    delivery, outcome = settled.claim, settled.verdict.outcome
    WEBHOOKS.labels(delivery.type, outcome).inc()
    if outcome is DeliveryOutcome.GIVEN_UP:
        log.warning("message given up", id=delivery.id, partner=delivery.partner_id, why=settled.verdict.reason)
