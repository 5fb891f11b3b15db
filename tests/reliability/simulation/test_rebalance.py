"""A rebalance at the worst moment: the real reader loses nothing, skips nothing and goes on afterwards."""

import asyncio
import random
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

import pytest

from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.publisher import StreamMessage
from abacus.platform.kafka.reader import Record, StreamReader
from tests.reliability.simulation.virtual_time import run_virtually
from tests.support.fixed_clock import FixedClock
from tests.support.memory_consumer import MemoryConsumer
from tests.support.memory_log import MemoryLog, partitions_of

TOPIC: Final = "transactions"
GROUP: Final = "readers"
RECORDS: Final = 60
LUCK: Final = 0.7


class Unlucky(MemoryConsumer, ABC):
    """A consumer whose group is disturbed now and then, when it has handed out records."""

    async def getmany(self, *, timeout_ms: float = 0, max_records: int | None = None) -> dict[Any, Any]:
        batch = await super().getmany(timeout_ms=timeout_ms, max_records=max_records)
        if batch and timeout_ms and self._chance.random() > LUCK:
            self.happens()
        return batch

    @abstractmethod
    def happens(self) -> None:
        """The misfortune."""


class CalledAsItReads(Unlucky):
    """The consumer learns of a rebalance in that very moment."""

    def happens(self) -> None:
        self._rejoin.set()


class CalledAtWork(Unlucky):
    """The consumer learns of a rebalance a moment later."""

    def happens(self) -> None:
        asyncio.get_running_loop().call_later(0.4, self._rejoin.set)


class ThrownOut(Unlucky):
    """The group takes the consumer for dead a moment later."""

    def happens(self) -> None:
        loop = asyncio.get_running_loop()
        loop.call_later(0.4, self._group.leave, self)
        loop.call_later(0.5, self._rejoin.set)


@pytest.mark.parametrize("consumer", [CalledAsItReads, CalledAtWork, ThrownOut])
@pytest.mark.parametrize("takes_s", [0.0, 3.0, 30.0])
@pytest.mark.parametrize("readers", [1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_every_record_is_dealt_with(consumer: type[MemoryConsumer], takes_s: float, readers: int, seed: int) -> None:
    chance, log = random.Random(seed), MemoryLog(rebalance_s=20.0)
    made = [
        StreamReader(
            *("memory", TOPIC, GROUP, WorkerHealth("reader")),
            max_records=5,
            client=lambda **_: consumer(log, GROUP, chance),
        )
        for _ in range(readers)
    ]
    dealt_with = run_virtually(_read(log, chance, made, takes_s), FixedClock(datetime(2026, 5, 1, tzinfo=UTC)))
    missing = {(p.partition, offset) for p in partitions_of(TOPIC) for offset in range(log.end(p))} - dealt_with.keys()
    assert not missing
    assert log.behind(GROUP, TOPIC) == 0


async def _read(
    log: MemoryLog, chance: random.Random, readers: Sequence[StreamReader], takes_s: float
) -> Counter[tuple[int, int]]:
    dealt_with: Counter[tuple[int, int]] = Counter()
    stop = asyncio.Event()

    async def handle(records: Sequence[Record]) -> None:
        await asyncio.sleep(takes_s * chance.uniform(0.5, 1.5))
        dealt_with.update((record.partition, record.offset) for record in records)

    running = [asyncio.ensure_future(reader.run(handle, stop)) for reader in readers]
    for number in range(RECORDS):
        log.append(TOPIC, StreamMessage(f"m{number}".encode(), b"{}"))
        await asyncio.sleep(chance.choice((0, 0, 0.5, 3.0)))
    for _ in range(3600):
        if not log.behind(GROUP, TOPIC):
            break
        await asyncio.sleep(1.0)
    stop.set()
    async with asyncio.timeout(60):
        await asyncio.gather(*running)
    return dealt_with
