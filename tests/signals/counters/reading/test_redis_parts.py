"""Closed parts in a Redis."""

import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from redis.asyncio import Redis

from abacus.platform.reading.redis_cache import opened
from abacus.signals.counters.reading.closed_parts import ClosedParts, Kept, SharedParts
from abacus.signals.counters.reading.rounds import Rounds
from abacus.signals.counters.reading.types import Parts
from abacus.signals.counters.types import SlotRange
from tests.signals.counters.reading.asking import NOW, WatchedStore
from tests.support.fixed_clock import FixedClock
from tests.support.memory_counters import MemoryCounterStore
from tests.support.redis import redis_server

A, B = SlotRange("34.1:rain:7", 0, 24), SlotRange("34.1:rain:ü 8", 24, 48)


@pytest.fixture
async def url(tmp_path: Path) -> AsyncIterator[str]:
    async with redis_server(tmp_path) as address:
        yield address


async def test_parts_come_back_until_their_time_is_over(url: str) -> None:
    soon = time.time() + 3600
    async with opened(url, prefix="a-") as cache, opened(url, prefix="b-") as other:
        parts, of_others = SharedParts(cache), SharedParts(other)
        assert await parts.find([A, B]) == {}
        await parts.keep({A: Kept(487, soon), B: Kept(-3, time.time() - 5)})
        assert await parts.find([A, B]) == {A: Kept(487, float(round(soon)))}
        assert await of_others.find([A, B]) == {}
    redis = Redis.from_url(url)
    assert 3500 < await redis.ttl("a-part:0:24:34.1:rain:7") <= 3600
    await redis.aclose()


async def test_processes_share_what_one_has_read(url: str) -> None:
    clock = FixedClock(NOW)
    store = WatchedStore(MemoryCounterStore(clock))
    for asked in (1, 1):
        async with opened(url, prefix="abacus-") as cache:
            own = ClosedParts(10)
            rounds = Rounds(store, clock, within_s=5, parts=own, keep_s=10**9, shared=cache)
            assert (await rounds.read(Parts([A], []))).by_range == {A: 0}
            assert own.known(A.key, [(A.first, A.end)], NOW.timestamp()) == (0, [])
            await rounds.close()
        assert len(store.asked) == asked
