"""A queue in memory that can fail, for the consumer's tests."""

import asyncio
from collections import Counter
from collections.abc import Sequence

from abacus.core.errors import Unavailable
from abacus.platform.sqs.port import Received

DOWN = Unavailable("queue line", "connection refused")


class Line:
    """`Queue`, first come first served. Receiving from an empty line waits until something comes.

    `down` counts the calls of each operation that are still to fail; the other attributes record the calls.
    """

    name = "line"

    def __init__(self, *bodies: str, at_a_time: int = 10) -> None:
        self.waiting = [Received(body, f"receipt-{body}", body, 1) for body in bodies]
        self.down: Counter[str] = Counter()
        self.receives = 0
        self.deleted: list[str] = []
        self.kept: list[tuple[list[str], int]] = []
        self.idle = asyncio.Event()  # someone waits for a message
        self._at_a_time = at_a_time
        self._came = asyncio.Event()

    async def send(self, bodies: Sequence[str], *, delay_s: int = 0) -> None:
        self.waiting += [Received(body, f"receipt-{body}", body, 1) for body in bodies]
        self._came.set()

    async def receive(self) -> list[Received]:
        self.receives += 1
        self._fail("receive")
        while not self.waiting:
            self.idle.set()
            self._came.clear()
            await self._came.wait()
        self.idle.clear()
        taken, self.waiting = self.waiting[: self._at_a_time], self.waiting[self._at_a_time :]
        return taken

    async def delete(self, messages: Sequence[Received]) -> None:
        self._fail("delete")
        self.deleted += [message.id for message in messages]

    async def keep(self, messages: Sequence[Received], seconds: int) -> None:
        self.kept.append(([message.id for message in messages], seconds))
        self._fail("keep")

    def _fail(self, operation: str) -> None:
        if self.down[operation]:
            self.down[operation] -= 1
            raise DOWN
