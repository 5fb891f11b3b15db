"""A signing queue signs what it sends, and tells its callers of their own bodies."""

from collections.abc import Sequence

import pytest

from abacus.core.signature import EnvelopeKey, Producer, Signer, Verifier
from abacus.platform.sqs.port import Unsent
from abacus.platform.sqs.signing_queue import SigningQueue
from tests.support.memory_queue import MemoryQueue

KEY = EnvelopeKey(Producer.API, "api.1", b"s" * 32)
BODIES = ['{"v":1,"awards":[1]}', '{"v":1,"awards":[2]}', '{"v":1,"awards":["é"]}']


class Half(MemoryQueue):
    """Takes the first body only."""

    async def send(self, bodies: Sequence[str], *, delay_s: float = 0) -> None:
        await super().send(bodies[:1], delay_s=delay_s)
        raise Unsent(self.name, "throttled", bodies[1:])


async def test_every_message_is_signed() -> None:
    queue = MemoryQueue("award", wait_s=0)
    signing = SigningQueue(queue, Signer(KEY))
    await signing.send(BODIES)
    received = await signing.receive()
    assert {Verifier([KEY]).producer_of(each.body) for each in received} == {Producer.API}
    assert sorted(each.body.partition(',"by"')[0] + "}" for each in received) == sorted(BODIES)
    await signing.keep(received[1:], 0)
    await signing.delete(received[:1])
    assert signing.name == "award"


async def test_what_was_not_taken_is_named_as_it_was_given() -> None:
    with pytest.raises(Unsent) as unsent:
        await SigningQueue(Half("award"), Signer(KEY)).send(BODIES)
    assert unsent.value.remaining == BODIES[1:]
    assert str(unsent.value) == "queue award unavailable: throttled"
