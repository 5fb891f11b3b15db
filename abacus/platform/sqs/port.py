"""The promises of a queue. SQS keeps them; so does the simulation's queue, with every misfortune that SQS allows."""

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from abacus.core.errors import Unavailable

CALL_ITEMS: Final = 10  # the most messages that one call carries


class Received(NamedTuple):
    """A message in our hands, until its visibility timeout passes."""

    id: str
    receipt: str
    body: str
    receives: int


class Depth(NamedTuple):
    """About how many messages of a queue wait, are in the hands of a worker, and are to wait later."""

    waiting: int
    in_flight: int
    delayed: int


class Unsent(Unavailable):
    """The queue did not take every body; it did not take `remaining`."""

    def __init__(self, queue: str, detail: str, remaining: Sequence[str]) -> None:
        super().__init__(f"queue {queue}", detail)
        self.remaining = list(remaining)


class Queue(Protocol):
    """At least once, in no promised order."""

    @property
    def name(self) -> str: ...

    async def send(self, bodies: Sequence[str], *, delay_s: int = 0) -> None:
        """Returns when the queue has taken every body. Raises `Unsent` with the bodies that it has not taken."""
        ...

    async def receive(self) -> list[Received]:
        """Up to ten messages, waiting a while for the first. Raises `Unavailable`."""
        ...

    async def delete(self, messages: Sequence[Received]) -> None:
        """Deletes messages that are done. A message that could not be deleted comes again. Raises `Unavailable`."""
        ...

    async def keep(self, messages: Sequence[Received], seconds: int) -> None:
        """Keeps messages ours for so long from now; 0 gives them back at once. Raises `Unavailable`."""
        ...
