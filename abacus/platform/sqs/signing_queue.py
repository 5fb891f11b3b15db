"""A queue whose messages a producer signs."""

from collections.abc import Sequence

from abacus.core.signature import Signer
from abacus.platform.sqs.port import Queue, Received, Unsent


class SigningQueue:
    """`Queue` with signed envelopes; its callers know their bodies as they wrote them."""

    def __init__(self, queue: Queue, signer: Signer) -> None:
        self._queue = queue
        self._signer = signer

    @property
    def name(self) -> str:
        return self._queue.name

    async def send(self, bodies: Sequence[str], *, delay_s: int = 0) -> None:
        signed = {self._signer.sign(body): body for body in bodies}
        try:
            await self._queue.send([*signed], delay_s=delay_s)
        except Unsent as error:
            raise Unsent(self.name, error.detail, [signed[body] for body in error.remaining]) from error

    async def receive(self) -> list[Received]:
        return await self._queue.receive()

    async def delete(self, messages: Sequence[Received]) -> None:
        await self._queue.delete(messages)

    async def keep(self, messages: Sequence[Received], seconds: int) -> None:
        await self._queue.keep(messages, seconds)
