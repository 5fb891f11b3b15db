"""A queue in memory that keeps SQS' promises and no more."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final

from abacus.platform.sqs.port import CALL_ITEMS, Received

_INSTANT_S: Final = 1e-6  # a timer may fire this much early


@dataclass(slots=True)
class _Kept:
    body: str
    visible_at: float
    receives: int = 0
    receipt: str = ""

    @property
    def visible(self) -> bool:
        return self.visible_at <= _now() + _INSTANT_S


class MemoryQueue:
    """`Queue` in memory. Given a source of chance it hands messages out in any order and number, as SQS may.

    Time is the running loop's, so under a virtual clock a visibility timeout takes no time at all.
    """

    def __init__(
        self,
        name: str,
        *,
        visibility_s: float = 30.0,
        wait_s: float = 20.0,
        max_receives: int = 0,
        dead_letters: "MemoryQueue | None" = None,
        chance: random.Random | None = None,
    ) -> None:
        self.name = name
        self.dead_letters = dead_letters
        self._visibility_s = visibility_s
        self._wait_s = wait_s
        self._max_receives = max_receives
        self._chance = chance
        self._numbers = count(1)
        self._kept: dict[str, _Kept] = {}
        self._changed = asyncio.Event()

    def __len__(self) -> int:
        """How many messages there are, those in somebody's hands and delayed ones included."""
        return len(self._kept)

    async def send(self, bodies: Sequence[str], *, delay_s: float = 0) -> None:
        visible_at = _now() + delay_s
        for body in bodies:
            self._kept[f"{self.name}-{next(self._numbers)}"] = _Kept(body, visible_at)
        self._wake()

    async def receive(self) -> list[Received]:
        deadline = _now() + self._wait_s
        while True:
            self._move_dead_letters()
            messages = self._take()
            left = deadline - _now()
            if messages or left <= 0:
                return messages
            await self._wait_for_change(left)

    async def delete(self, messages: Sequence[Received]) -> None:
        for message in messages:
            if self._is_ours(message):
                del self._kept[message.id]

    async def keep(self, messages: Sequence[Received], seconds: int) -> None:
        for message in messages:
            if self._is_ours(message):
                self._kept[message.id].visible_at = _now() + seconds
        if not seconds:
            self._wake()

    def take_over(self, id_: str, body: str) -> None:
        """A message of another queue, under the id that it had there."""
        self._kept[id_] = _Kept(body, _now())
        self._wake()

    def _is_ours(self, message: Received) -> bool:
        kept = self._kept.get(message.id)
        return kept is not None and kept.receipt == message.receipt

    def _take(self) -> list[Received]:
        ripe = [id_ for id_, kept in self._kept.items() if kept.visible]
        most = CALL_ITEMS
        if self._chance is not None:
            self._chance.shuffle(ripe)
            most = self._chance.randint(1, CALL_ITEMS)
        return [self._hand_out(id_) for id_ in ripe[:most]]

    def _hand_out(self, id_: str) -> Received:
        kept = self._kept[id_]
        kept.receives += 1
        kept.receipt = f"{id_}/{kept.receives}"
        kept.visible_at = _now() + self._visibility_s
        return Received(id_, kept.receipt, kept.body, kept.receives)

    def _move_dead_letters(self) -> None:
        if self.dead_letters is None:
            return
        spent = [id_ for id_, kept in self._kept.items() if kept.receives >= self._max_receives and kept.visible]
        for id_ in spent:
            self.dead_letters.take_over(id_, self._kept.pop(id_).body)

    async def _wait_for_change(self, longest_s: float) -> None:
        changed = self._changed
        ripens = min((kept.visible_at for kept in self._kept.values()), default=float("inf"))
        try:
            async with asyncio.timeout(max(0.0, min(longest_s, ripens - _now()))):
                await changed.wait()
        except TimeoutError:
            return

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


def _now() -> float:
    return asyncio.get_running_loop().time()
