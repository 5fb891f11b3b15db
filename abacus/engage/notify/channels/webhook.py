"""A webhook of the operator as a channel: signed and posted as partners' webhooks are."""

from abacus.core.clock import Clock
from abacus.engage.notify.decide.message import ChannelName, Outgoing, document
from abacus.platform.delivery.decide.signature import signed_headers
from abacus.platform.delivery.post import Poster
from abacus.platform.delivery.types import Answer, Said


class WebhookChannel:
    """The message's id is the header `webhook-id`, by which a receiver knows what it has seen."""

    name = ChannelName.WEBHOOK

    def __init__(self, poster: Poster, url: str, secret: str, clock: Clock) -> None:
        self._poster = poster
        self._url = url
        self._secret = secret
        self._clock = clock

    async def send(self, outgoing: Outgoing) -> Answer:
        body = document(outgoing)
        timestamp = int(self._clock.now().timestamp())
        headers = signed_headers([self._secret], outgoing.message_id, timestamp, body)
        reply = await self._poster.post(self._url, headers, body)
        # A longer wait that the receiver wants is not granted: what waits comes within a quarter of an hour.
        return Answer(reply.said, "" if reply.said is Said.ACCEPTED else reply.detail)
