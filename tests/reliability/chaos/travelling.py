"""Members set out on the journey of a run while its fault is at work, and do what they do while they wait."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from random import Random
from typing import Final

from abacus.core.errors import Unavailable
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.publisher import StreamMessage, StreamPublisher
from abacus.platform.patience import until_available
from abacus.platform.postgres import passing_failures
from tests.reliability.chaos.ground import ProvingGround
from tests.reliability.chaos.travelled import BEGUN, NAME, WAITS, Turn, body, member, turn_of

_TWICE: Final = 0.1  # of the events
_LOOK_EVERY_S: Final = 0.5
_IN_TIME: Final = 0.7  # of the wait, at the latest
_WAITING: Final = "select member_id from seat where journey = $1 and node is not null and left_at is null"
_LEFT: Final = "select count(*) from seat where journey = $1 and left_at is not null"


@asynccontextmanager
async def travelling(ground: ProvingGround, members: int, over_s: float, rng: Random) -> AsyncIterator[None]:
    """They set out while the block runs; at its end everybody has left, or done what is due."""
    if not members:
        yield
        return
    publisher = StreamPublisher(ground.settings.required("kafka_bootstrap"))
    travellers = _Travellers(ground, publisher, members, rng)
    going = asyncio.gather(travellers.set_out(over_s), travellers.act())
    try:
        yield
        await going
    finally:
        going.cancel()
        with suppress(asyncio.CancelledError):
            await going
        await publisher.close()


class _Travellers:
    def __init__(self, ground: ProvingGround, publisher: StreamPublisher, members: int, rng: Random) -> None:
        self._ground = ground
        self._publisher = publisher
        self._members = [member(number) for number in range(members)]
        self._rng = rng
        self._health = WorkerHealth("travellers")

    async def set_out(self, over_s: float) -> None:
        for member_id in self._members:
            await asyncio.sleep(over_s / len(self._members))
            await self._publish(member_id, BEGUN)

    async def act(self) -> None:
        """Each once it is seen to wait, and some time later."""
        acted: set[str] = set()
        async with asyncio.TaskGroup() as group:
            while not await self._have_left():
                for member_id in set(await self._waiting()) - acted:
                    acted.add(member_id)
                    group.create_task(self._act(member_id, self._rng.uniform(0, _IN_TIME * WAITS.seconds)))
                await asyncio.sleep(_LOOK_EVERY_S)

    async def _act(self, member_id: str, after_s: float) -> None:
        turn = turn_of(member_id)
        if turn is not Turn.STAYS:
            await asyncio.sleep(after_s)
            await self._publish(member_id, turn)

    async def _publish(self, member_id: str, type_: str) -> None:
        message = StreamMessage(member_id.encode(), body(member_id, type_, datetime.now(UTC)))
        messages = [message, message] if self._rng.random() < _TWICE else [message]
        topic = self._ground.settings.events_topic
        await until_available(lambda: self._publisher.publish(topic, messages), self._health)

    async def _waiting(self) -> Iterable[str]:
        with suppress(Unavailable):  # by the fault
            async with passing_failures():
                return [row[0] for row in await self._ground.pool.fetch(_WAITING, NAME)]
        return []

    async def _have_left(self) -> bool:
        with suppress(Unavailable):  # by the fault
            async with passing_failures():
                return bool(await self._ground.pool.fetchval(_LEFT, NAME) >= len(self._members))
        return False
