"""The retrier: calculates transactions again that had to wait for a dependency."""

from collections.abc import Sequence

from abacus.core.errors import SetAside
from abacus.core.signature import Verifier, check_vouched
from abacus.intake.earning.decide.source_message import SourceMessage, decode_retries
from abacus.intake.earning.issuer import PointsIssuer
from abacus.platform.quarantine.store import QuarantinePort
from abacus.platform.quarantine.types import RETRY_QUEUE, Item, Stage
from abacus.platform.sqs.port import Received


class Retrier:
    """Handles messages of the retry queue. A message that fails again goes back with one more attempt and a longer
    delay.
    """

    def __init__(self, issuer: PointsIssuer, quarantine: QuarantinePort, verifier: Verifier) -> None:
        self._issuer = issuer
        self._quarantine = quarantine
        self._verifier = verifier

    async def handle(self, received: Sequence[Received]) -> Sequence[Received]:
        messages: list[SourceMessage] = []
        unreadable: list[Item] = []
        for envelope in received:
            try:
                messages += self._opened(envelope.body)
            except SetAside as fault:
                unreadable.append(Item.of(Stage.ENVELOPE, RETRY_QUEUE, envelope.body.encode(), fault))
        await self._quarantine.add(unreadable)
        await self._issuer.hand_over(await self._issuer.decide(messages))
        return received

    def _opened(self, body: str) -> Sequence[SourceMessage]:
        """Raises `SetAside` when the envelope cannot be read, or nobody vouches for all of it."""
        producer = self._verifier.producer_of(body)
        messages = decode_retries(body)
        if producer is not None:
            check_vouched(producer, {message.source for message in messages})
        return messages
