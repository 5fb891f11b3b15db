"""A webhook of the operator as a channel: signed and posted as partners' webhooks are."""

from abacus.core.clock import Clock
from abacus.engage.notify.decide.message import ChannelName, OutgoingMessage, document
from abacus.platform.delivery.decide.signature import signed_headers
from abacus.platform.delivery.post import Poster
from abacus.platform.delivery.types import Answer, Said


class WebhookChannel:
    """Posts a message with its id in the header `webhook-id`, so that a receiver can skip an id that it has seen."""

    name = ChannelName.WEBHOOK

    def __init__(self, poster: Poster, url: str, secret: str, clock: Clock) -> None:
        self._poster = poster
        self._url = url
        self._secret = secret
        self._clock = clock

    async def send(self, outgoing: OutgoingMessage) -> Answer:
        body = document(outgoing)
        timestamp = int(self._clock.now().timestamp())
        headers = signed_headers([self._secret], outgoing.message_id, timestamp, body)
        reply = await self._poster.post(self._url, headers, body)
        # A receiver may not ask for a longer wait: a waiting message is tried again within a quarter of an hour.
        return Answer(reply.said, "" if reply.said is Said.ACCEPTED else reply.detail)
