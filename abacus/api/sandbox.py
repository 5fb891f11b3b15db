"""What stands in for the queues of the sandbox: awards are posted at once, and nothing leaves the process."""

from collections.abc import Sequence
from typing import Final

from abacus.core.errors import Unavailable
from abacus.intake.awarding.awarder import Awarder
from abacus.platform.sqs.port import Received, Unsent

_NAME: Final = "sandbox"


class PostsAtOnce:
    """In place of the award queue: an award that is sent is posted by the time that this returns."""

    name = _NAME

    def __init__(self, awarder: Awarder) -> None:
        self._awarder = awarder

    async def send(self, bodies: Sequence[str], *, delay_s: int = 0) -> None:  # noqa: ARG002  # as a queue does
        for place, body in enumerate(bodies):
            try:
                await self._awarder.handle([Received(_NAME, _NAME, body, receives=1)])
            except Unavailable as error:
                raise Unsent(_NAME, error.detail, bodies[place:]) from error


class TakesNothing:
    """In place of the retry queue: while tiers cannot be read, nothing is computed."""

    name = _NAME

    async def send(self, bodies: Sequence[str], *, delay_s: int = 0) -> None:  # noqa: ARG002  # as a queue does
        raise Unsent(_NAME, "the tiers of members cannot be read now", bodies)
