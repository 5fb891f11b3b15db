"""Answers in the cache that processes share: one process computes for all, and a cache that stalls holds up nobody."""

import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from abacus.platform.reading.redis_cache import RedisCache, opened
from abacus.platform.reading.shared_cache import CachedValue
from tests.platform.reading.answering import LIVES, ROUTE, Scene, asking
from tests.support.redis import RunningRedis, running_redis


@pytest.fixture
async def redis(tmp_path: Path) -> AsyncIterator[RunningRedis]:
    async with running_redis(tmp_path) as running:
        yield running


@pytest.fixture
async def cache(redis: RunningRedis) -> AsyncIterator[RedisCache]:
    async with opened(redis.url, prefix="a-", within_s=0.05) as cache:
        yield cache


def processes(cache: RedisCache) -> tuple[Scene, Scene]:
    """Two, at the time of the server, which forgets by its own clock."""
    now = datetime.now(UTC)
    return Scene(shared=cache, begins=now), Scene(shared=cache, begins=now)


async def told(scene: Scene, key: str) -> tuple[int, float]:
    answer = await scene.ask(key)
    await scene.rests()
    return answer


async def test_what_one_process_computed_another_has_with_its_age(cache: RedisCache) -> None:
    one, other = processes(cache)
    await told(one, "pho")
    other.passes(3)
    edition, age_s = await told(other, "pho")
    assert (edition, other.begun["pho"]) == (1, 0)
    assert age_s == pytest.approx(3, abs=0.01)
    other.passes(8)
    assert (await other.ask("pho"))[1] == pytest.approx(11, abs=0.01)  # stale, as it is where it was computed
    await other.rests()
    assert other.begun["pho"] == 1


async def test_what_was_computed_before_a_change_is_not_found_after_it(cache: RedisCache) -> None:
    one, other = processes(cache)
    await told(one, "pho")
    other.change("pho")
    assert await told(other, "pho") == (2, 0)
    assert await told(one, "pho") == (1, 0)  # it has not heard of the change yet
    one.change("pho")
    assert (await told(one, "pho"))[0] == 2
    assert one.begun["pho"] == 1


async def test_what_a_change_overtook_is_not_shared(cache: RedisCache) -> None:
    """Also where the sources are again what they were: another process would take for theirs what was half of both."""
    one, other = processes(cache)
    one.flows.clear()
    told_before = asking(one, "pho")
    await one.begun_times("pho", 1)
    one.change("pho")
    one.edition = 1
    one.flows.set()
    await told_before
    await one.rests()
    await told(other, "pho")
    assert other.begun["pho"] == 1


async def test_what_was_begun_at_another_version_is_not_shared(cache: RedisCache) -> None:
    one, other = processes(cache)
    one.flows.clear()
    told_before = asking(one, "pho")
    await one.begun_times("pho", 1)
    one.edition = 2  # of which the cache is told later
    one.flows.set()
    await told_before
    await one.rests()
    await told(other, "pho")
    assert other.begun["pho"] == 1


async def test_what_the_clock_has_made_wrong_is_not_found(cache: RedisCache) -> None:
    now = datetime.now(UTC)
    route = ROUTE._replace(until_of=lambda _: now.timestamp() + 2)
    one, other = Scene(route, cache, now), Scene(route, cache, now)
    await told(one, "pho")
    other.passes(2)
    await told(other, "pho")
    assert other.begun["pho"] == 1


async def test_one_of_all_processes_refreshes(cache: RedisCache) -> None:
    one, other = processes(cache)
    for scene in (one, other):
        await told(scene, "pho")
        scene.passes(11)
        await scene.ask("pho")
    for scene in (one, other):
        await scene.rests()
    assert one.begun["pho"] + other.begun["pho"] == 2  # the first, and a refresh


async def test_a_refresh_takes_no_shared_answer_that_is_as_old(cache: RedisCache) -> None:
    """An answer is refreshed a little before it is old for all."""
    now = datetime.now(UTC)
    route = ROUTE._replace(lifetimes=LIVES._replace(jitter=0.5))
    one, other = Scene(route, cache, now), Scene(route, cache, now)
    await told(one, "pho")
    for scene in (one, other):
        scene.passes(9.9)
        await told(scene, "pho")
        assert (await told(scene, "pho"))[1] == pytest.approx(0, abs=0.01)
    assert [scene.begun["pho"] for scene in (one, other)] == [2, 0]


async def test_what_cannot_be_read_is_computed(cache: RedisCache) -> None:
    """Another program may have written there."""
    one, other = processes(cache)
    until = one.clock.now().timestamp() + 60
    for text in ("", "noon 1 pho", f"{until - 60} pho"):
        await cache.keep({"answer:dishes:1:1:'pho'": CachedValue(text, until)})
        other.cache.drop_all()
        assert await told(other, "pho") == (1, 0)
    assert other.begun["pho"] == 3


async def test_a_stalled_cache_holds_up_nobody(redis: RunningRedis, cache: RedisCache) -> None:
    scene, _ = processes(cache)
    await told(scene, "pho")
    redis.stall()
    began = time.monotonic()
    for number in range(100):
        assert await told(scene, f"n{number}") == (1, 0)
    scene.passes(11)
    assert await told(scene, "pho") == (1, 11)
    assert scene.begun["pho"] == 2  # without a claim each process refreshes for itself
    assert time.monotonic() - began < 3  # each look takes 50 ms; after three failures there is one a second
