"""How far a campaigner has come with rides, seen from outside."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from abacus.platform.kafka.groups import committed
from abacus.platform.postgres import Pool
from abacus.platform.settings import Settings
from benchmarks.load import Ends
from benchmarks.offers_in_force import rides_topic
from benchmarks.workbench import until

_WAITS: Final = "select exists (select from action where done_at is null and refused_at is null)"


class Deciding:
    """The rides that were sent, and those whose effects are durable."""

    def __init__(self, settings: Settings, pool: Pool, sent: Ends) -> None:
        self._bootstrap = settings.required("kafka_bootstrap")
        self._topic = rides_topic(settings)
        self._group = f"{settings.queue_prefix}campaigner-{self._topic}"
        self._pool = pool
        self._sent = sent

    async def decided(self) -> int:
        return sum((await committed(self._bootstrap, self._topic, self._group)).values())

    async def under_way(self) -> int:
        """Rides that are sent and not decided."""
        return await self._sent.count() - await self.decided()

    async def settled(self) -> None:
        """Wait until every ride is decided, and what follows is handed over."""

        async def all_decided() -> bool:
            return not await self.under_way()

        async def all_done() -> bool:
            return not await self._pool.fetchval(_WAITS)

        await until(all_decided)
        await until(all_done)


@asynccontextmanager
async def deciding(settings: Settings, pool: Pool) -> AsyncIterator[Deciding]:
    async with Ends(settings.required("kafka_bootstrap"), rides_topic(settings)) as sent:
        yield Deciding(settings, pool, sent)
