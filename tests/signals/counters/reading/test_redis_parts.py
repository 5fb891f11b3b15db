"""Closed parts in a Redis."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from redis.asyncio import Redis

from abacus.platform.reading.part_cache import PartCache
from abacus.platform.reading.redis_cache import opened
from abacus.signals.counters.reading.closed_parts import closed_parts
from abacus.signals.counters.reading.rounds import Rounds
from abacus.signals.counters.reading.types import Parts
from abacus.signals.counters.types import SlotRange
from tests.signals.counters.reading.asking import WatchedStore
from tests.support.fixed_clock import FixedClock
from tests.support.memory_counters import MemoryCounterStore
from tests.support.redis import redis_server

A, B = SlotRange("34.1:rain:7", 0, 24), SlotRange("34.1:rain:ü 8", 24, 48)


@pytest.fixture
async def url(tmp_path: Path) -> AsyncIterator[str]:
    async with redis_server(tmp_path) as address:
        yield address


async def read(url: str, store: WatchedStore, clock: FixedClock) -> None:
    """By a process that has just begun."""
    async with opened(url, prefix="a-", within_s=10) as cache:
        parts = PartCache(closed_parts(10), clock=clock, shared=cache)
        rounds = Rounds(store, within_s=5, parts=parts)
        assert (await rounds.read(Parts([A, B], []))).by_range == {A: 0, B: 0}
        await rounds.close()
        while parts.refreshing:  # noqa: ASYNC110  # it is written beside the round
            await asyncio.sleep(0)


async def test_processes_share_what_one_has_read(url: str) -> None:
    clock = FixedClock(datetime.now(UTC).replace(microsecond=0))  # a Redis forgets by its own
    store = WatchedStore(MemoryCounterStore(clock))
    await read(url, store, clock)
    await read(url, store, clock)
    assert store.asked == [[A, B]]
    redis = Redis.from_url(url)
    assert 3500 < await redis.ttl("a-answer:counts:1::('34.1:rain:7', 0, 24)") <= 3600
    await redis.aclose()
    clock.set(clock.now() + timedelta(hours=1))
    await read(url, store, clock)
    assert len(store.asked) == 2
