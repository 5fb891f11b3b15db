"""Sending due notifications over one channel, at its pace. Channels are independent, so a channel that is down holds up
no other. Each notification is tried again by itself, so a failure holds up no other member.
"""

import asyncio
import random
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

import structlog
from pydantic import ValidationError

from abacus.core.backoff import Backoff
from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.engage.notify.channels.port import Channel
from abacus.engage.notify.decide.contact import Stopped
from abacus.engage.notify.decide.message import ChannelName, OutgoingMessage, Words
from abacus.engage.notify.decide.news import NEWS_LIST_JSON, News
from abacus.engage.notify.decide.template import FilledTemplate, Unrenderable
from abacus.engage.notify.metrics import NOTIFICATIONS
from abacus.engage.notify.outbox import Notification, NotificationOutbox
from abacus.engage.notify.renderer import Renderer
from abacus.engage.notify.templates import Templates, together
from abacus.platform.delivery.decide.schedule import Schedule, failing_for
from abacus.platform.delivery.deliverer import IDLE_S, Deliverer
from abacus.platform.delivery.types import Answer, Concurrency, DeliveryOutcome, Said, Settled
from abacus.platform.health import WorkerHealth

BACKOFF: Final = Backoff(first_s=2, longest_s=900)
CONCURRENCY: Final = Concurrency(at_once=100, batch=25)

# The labels under which a notification is counted.
_COUNTED_AS: Final = {
    DeliveryOutcome.DELIVERED: "sent",
    DeliveryOutcome.RETRIED: "retried",
    DeliveryOutcome.GIVEN_UP: "parked",
    DeliveryOutcome.GONE: "parked",
}

log = structlog.get_logger(__name__)


def notification_sender(
    channel: Channel,
    templates: Templates,
    renderer: Renderer,
    outbox: NotificationOutbox,
    *,
    clock: Clock,
    health: WorkerHealth,
    park_after: timedelta,
    stopped: Stopped,
    rng: random.Random,
    backoff: Backoff = BACKOFF,
    idle_s: float = IDLE_S,
) -> Deliverer[Notification]:
    """A sender for one channel, slice and process. Any number of processes share the work and the pace, through the
    channel's outbox. News that is stopped is left out, and a message of which nothing is left is parked.
    """

    async def attempt(notification: Notification) -> Answer:
        await asyncio.sleep(max(0.0, (notification.start_at - clock.now()).total_seconds()))
        try:
            news = NEWS_LIST_JSON.validate_json(notification.parts)
            said = [each for each in news if stopped(each) is None]
            if not said:
                return Answer(Said.REFUSED, next(filter(None, map(stopped, news)), "there is nothing to say"))
            outgoing = await _in_words(notification, said, templates, renderer)
        except Unrenderable as fault:
            return Answer(Said.REFUSED, str(fault))
        except ValidationError:
            return Answer(Said.REFUSED, "this version of Abacus cannot read it")
        except Unavailable as fault:
            return Answer(Said.FAILED, str(fault))
        return await channel.send(outgoing)

    return Deliverer(
        outbox,
        attempt,
        Schedule(backoff, failing_for(park_after), rng),
        CONCURRENCY,
        clock=clock,
        health=health,
        on_settled=lambda settled: _on_settled(channel.name, settled),
        idle_s=idle_s,
    )


async def _in_words(
    notification: Notification, news: Sequence[News], templates: Templates, renderer: Renderer
) -> OutgoingMessage:
    """The message in words. Raises `Unrenderable` and `Unavailable`."""
    member_id, message_id, locale = notification.member_id, notification.message_id, notification.locale
    parts = [templates.rendering(each, locale) for each in news]
    answers = iter(await renderer.render([each for each in parts if isinstance(each, FilledTemplate)]))
    words = []
    for each in (next(answers) if isinstance(part, FilledTemplate) else part for part in parts):
        if not isinstance(each, Words):
            raise each
        words.append(each)
    return OutgoingMessage(member_id, message_id, locale, together(words), news, notification.created_at)


def _on_settled(channel: ChannelName, settled: Settled[Notification]) -> None:
    counted_as = _COUNTED_AS[settled.verdict.outcome]
    NOTIFICATIONS.labels(channel, counted_as).inc()
    if counted_as == "parked":
        log.warning("notification parked", channel=channel, id=settled.claim.id, why=settled.verdict.reason)
