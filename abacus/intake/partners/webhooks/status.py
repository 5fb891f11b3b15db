"""The lines of webhooks in the state of things."""

from datetime import datetime, timedelta
from typing import Final

from abacus.core.clock import Clock
from abacus.core.status import Follows, Problem, Undelivered
from abacus.intake.partners.webhooks.outbox import WebhookOutbox
from abacus.platform.delivery.types import Backlog
from abacus.platform.postgres import Pool
from abacus.platform.status import CapabilityStatus

_DELIVERED_WITHIN: Final = timedelta(days=1)


def told_of(waiting: Backlog, now: datetime) -> Undelivered:
    count, oldest_at, problem = waiting.deliveries, waiting.oldest, None
    if oldest_at is not None and now - oldest_at > _DELIVERED_WITHIN:
        fault = f"{count:,} webhook messages wait, the oldest since {oldest_at:%Y-%m-%d %H:%M:%S} UTC"
        remedy = "abacus partners webhook deliveries PARTNER has the receiver's answers"
        problem = Problem(fault, remedy, about="webhooks", since=oldest_at)
    figures = {"webhooks": count, "oldest_webhook_at": oldest_at}
    return Undelivered("webhooks", f"{count:,} messages wait", figures, problem)


async def _undelivered(pool: Pool, clock: Clock) -> Undelivered:
    return told_of(await WebhookOutbox(pool, clock).waiting(), clock.now())


POINTS: Final = Follows("points_topic", "webhooks", "webhooks")
STATUS: Final = CapabilityStatus(follows=[POINTS], undelivered=_undelivered)
