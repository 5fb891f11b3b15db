"""Calls webhooks: what a guard is against is not sent any more, and what fails is tried again."""

import random
from collections.abc import Callable
from datetime import timedelta
from typing import Final

import orjson
import structlog

from abacus.core.backoff import Backoff
from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.engage.actions.calls import Call, CallOutbox
from abacus.engage.actions.metrics import CAMPAIGN_ACTIONS, CAMPAIGN_ACTIONS_OLDEST, CAMPAIGN_ACTIONS_WAITING
from abacus.engage.actions.types import Guards
from abacus.engage.downstreams.decide.downstream import WEBHOOK_PREFIX
from abacus.engage.downstreams.services import Post
from abacus.engage.downstreams.store import ByName, valid_secrets
from abacus.platform.delivery.decide.reply import waits_until
from abacus.platform.delivery.decide.schedule import Schedule, failing_for
from abacus.platform.delivery.decide.signature import signed_headers
from abacus.platform.delivery.deliverer import Deliverer, Periodic
from abacus.platform.delivery.types import Answer, Concurrency, DeliveryOutcome, Said, Settled
from abacus.platform.encryption import Secrets, SecretUnreadable
from abacus.platform.health import WorkerHealth

CONCURRENCY: Final = Concurrency(at_once=64, per_receiver=8)
BACKOFF: Final = Backoff(first_s=5, longest_s=3600)
TRIED_FOR: Final = timedelta(days=3)
_COUNT_EVERY_S: Final = 5.0

# The outcomes under which calls are counted, beside other actions.
_COUNTED_AS: Final = {
    DeliveryOutcome.DELIVERED: "done",
    DeliveryOutcome.RETRIED: "failed",
    DeliveryOutcome.GIVEN_UP: "refused",
    DeliveryOutcome.GONE: "refused",
}

log = structlog.get_logger(__name__)


def caller(
    calls: CallOutbox,
    guards: Guards,
    downstreams: Callable[[], ByName],
    poster: Post,
    secrets: Secrets,
    *,
    clock: Clock,
    health: WorkerHealth,
    rng: random.Random,
    idle_s: float,
) -> Deliverer[Call]:
    """One for each process; any number of them share the work."""

    async def attempt(call: Call) -> Answer:
        signed = downstreams().get(call.receiver)
        if signed is None or signed.downstream.retired or signed.downstream.url is None:
            return Answer(Said.REFUSED, f"the webhook {call.receiver} is retired")
        try:
            refused = await guards([call.action])
            valid = await valid_secrets(secrets, signed)
        except (Unavailable, SecretUnreadable) as fault:  # it may pass
            return Answer(Said.FAILED, str(fault))
        if call.action in refused.against:
            return Answer(Said.REFUSED, refused.against[call.action])
        if refused.unknown:
            return Answer(Said.FAILED, "its guard cannot be looked at now")
        now = clock.now()
        body = orjson.dumps(
            {
                "type": f"{call.action.owner_kind}.action",
                "timestamp": call.action.decided_at,
                "data": orjson.Fragment(call.action.document),
            }
        )
        reply = await poster.post(
            signed.downstream.url, signed_headers(valid, call.id, int(now.timestamp()), body), body
        )
        return Answer(reply.said, reply.detail, reply.status, waits_until(reply.retry_after, clock.now()))

    async def count() -> None:
        for receiver, backlog in (await calls.backlogs()).items():
            CAMPAIGN_ACTIONS_WAITING.labels(receiver).set(backlog.deliveries)
            CAMPAIGN_ACTIONS_OLDEST.labels(receiver).set(backlog.age_s(clock.now()))

    return Deliverer(
        calls,
        attempt,
        Schedule(BACKOFF, failing_for(TRIED_FOR), rng),
        CONCURRENCY,
        clock=clock,
        health=health,
        on_settled=_on_settled,
        periodically=[Periodic(count, _COUNT_EVERY_S)],
        idle_s=idle_s,
    )


def _on_settled(settled: Settled[Call]) -> None:
    call, outcome = settled.claim, settled.verdict.outcome
    CAMPAIGN_ACTIONS.labels(WEBHOOK_PREFIX + call.receiver, _COUNTED_AS[outcome]).inc()
    if outcome in {DeliveryOutcome.GIVEN_UP, DeliveryOutcome.GONE}:
        log.warning("call given up", webhook=call.receiver, id=call.id, why=settled.verdict.reason)
