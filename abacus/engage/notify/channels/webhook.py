"""A webhook of the operator as a channel: signed and posted as partners' webhooks are."""

from http import HTTPStatus

from abacus.core.clock import Clock
from abacus.engage.notify.decide.message import ChannelName, Outgoing, document
from abacus.engage.notify.decide.outcome import Answer, Said
from abacus.intake.partners.webhooks.decide.signature import signed_headers
from abacus.intake.partners.webhooks.post import Poster


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
        answer = await self._poster.post(self._url, headers, body)
        if answer.status is not None and HTTPStatus.OK <= answer.status < HTTPStatus.MULTIPLE_CHOICES:
            return Answer(Said.SENT)
        return Answer(Said.REFUSED if answer.status == HTTPStatus.GONE else Said.FAILED, answer.detail)
