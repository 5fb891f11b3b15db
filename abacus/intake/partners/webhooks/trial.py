"""Tries a partner's webhook: one message, signed and sent as every other, outside of the outbox and never again."""

import secrets
import time
from typing import NamedTuple, Protocol

from abacus.core.clock import Clock
from abacus.intake.partners.webhooks.decide.message import trial_message
from abacus.intake.partners.webhooks.sender import Post
from abacus.platform.delivery.decide.reply import Reply
from abacus.platform.delivery.decide.signature import signed_headers
from abacus.platform.delivery.types import Said


class Receiver(NamedTuple):
    """The address of a webhook, all of its valid secrets, and the reason why it is disabled."""

    url: str
    secrets: tuple[str, ...]
    disabled_why: str | None


class Receivers(Protocol):
    """The webhooks of partners."""

    async def receiver(self, partner_id: str) -> Receiver: ...


class Trial(NamedTuple):
    """The outcome: the reply, or its absence, and the seconds until it came."""

    receiver: Receiver
    message_id: str
    reply: Reply
    seconds: float

    @property
    def accepted(self) -> bool:
        return self.reply.said is Said.ACCEPTED


async def try_webhook(receivers: Receivers, poster: Post, clock: Clock, partner_id: str) -> Trial:
    """Raises `Refused` for a partner without a webhook. A disabled webhook is tried too, as it may be mended by now."""
    receiver, now = await receivers.receiver(partner_id), clock.now()
    message = trial_message(partner_id, secrets.token_hex(12), now)
    headers = signed_headers(receiver.secrets, message.message_id, int(now.timestamp()), message.body)
    began = time.perf_counter()
    reply = await poster.post(receiver.url, headers, message.body)
    return Trial(receiver, message.message_id, reply, time.perf_counter() - began)
