"""The relay's steps over the ledger in memory. The real one reads Postgres and is tested there."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from abacus.ledger.types.point_event import encode_event
from abacus.ledger.types.transfer import Transfer
from abacus.platform.following.publishing import Publisher
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.publisher import Message
from abacus.platform.patience import until_available
from tests.simulation.life import Life
from tests.support.memory_ledger import MemoryLedger

TOPIC: Final = "points"
_IDLE_S: Final = 20.0


@dataclass
class Cursor:
    """How many transfers are published; it outlives the relay."""

    position: int = 0


class RelayModel:
    """Reads what is posted behind the cursor, publishes it, and then moves the cursor."""

    def __init__(
        self,
        ledger: MemoryLedger,
        publisher: Publisher,
        cursor: Cursor,
        life: Life,
        health: WorkerHealth,
        *,
        batch: int,
    ) -> None:
        self._ledger = ledger
        self._publisher = publisher
        self._cursor = cursor
        self._batch = batch
        self._life = life
        self._health = health

    async def run(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            if not await until_available(self.publish_next, self._health):
                await asyncio.sleep(_IDLE_S)

    async def publish_next(self) -> int:
        position = self._cursor.position
        async with self._life.call("ledger", "relay.read"):
            transfers = self._ledger.transfers[position : position + self._batch]
        if transfers:
            await self._publish_and_move(transfers, position)
        return len(transfers)

    async def _publish_and_move(self, transfers: Sequence[Transfer], position: int) -> None:
        await self._publish(transfers)
        await self._move(position + len(transfers))

    async def _publish(self, transfers: Sequence[Transfer]) -> None:
        messages = [Message(transfer.member_id.encode(), encode_event(transfer)) for transfer in transfers]
        await self._publisher.publish(TOPIC, messages)

    async def _move(self, position: int) -> None:
        async with self._life.call("ledger", "relay.move"):
            self._cursor.position = position
