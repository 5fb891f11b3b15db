"""Several processes, one bucket: exact together, seldom in the database, each by itself while that is away."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import pytest
from structlog.testing import capture_logs

from abacus.core.errors import Unavailable
from abacus.platform.postgres import Pool
from abacus.platform.rate_limits.limiter import RateLimiter
from abacus.platform.rate_limits.store import Buckets, BucketStore
from abacus.platform.rate_limits.types import Grant, Wish
from tests.support.fixed_clock import FixedClock

NOON = datetime(2026, 5, 10, 12, tzinfo=UTC)


class Counted:
    """Buckets that count how often they are asked, and that may be out of reach."""

    def __init__(self, buckets: Buckets) -> None:
        self._buckets = buckets
        self.wishes: list[Sequence[Wish]] = []
        self.away = False
        self.silent = False

    async def settle(self, wishes: Sequence[Wish], now: float) -> Mapping[str, Grant]:
        self.wishes.append(wishes)
        if self.silent:
            await asyncio.Event().wait()
        if self.away:
            raise Unavailable("database", "it is away")
        return await self._buckets.settle(wishes, now)


class Processes:
    """Limiters that share the buckets of one database and a clock."""

    def __init__(self, pool: Pool, count: int) -> None:
        self.clock = FixedClock(NOON)
        self.buckets = [Counted(BucketStore(pool)) for _ in range(count)]
        self.limiters = [RateLimiter(each, self.clock) for each in self.buckets]

    @property
    def asked(self) -> int:
        return sum(len(each.wishes) for each in self.buckets)

    def later(self, seconds: float) -> None:
        self.clock.set(self.clock.now() + timedelta(seconds=seconds))

    async def passed(self, requests: int, limit: int, id_: str = "partner:acme") -> int:
        """How many of the requests pass, one after the other in turn."""
        passed = 0
        for number in range(requests):
            passed += (await self.limiters[number % len(self.limiters)].take(id_, limit)).wait_s == 0
        return passed


# The limit a minute, the processes, and the requests over a minute, a tenth of which come together.
LOADS = [(60, 2, 200), (60, 4, 400), (600, 2, 2000), (7, 2, 100), (1, 3, 30), (6000, 2, 12_000)]


@pytest.mark.parametrize(("limit", "processes", "requests"), LOADS)
async def test_a_minutes_requests_pass_over_all_processes(
    pool: Pool, limit: int, processes: int, requests: int
) -> None:
    house = Processes(pool, processes)
    # What is there at once, and then what flows in.
    first = await house.passed(requests, limit)
    assert limit * 0.9 <= first <= limit * 1.1
    flowed = 0
    for _ in range(10):
        house.later(6)
        flowed += await house.passed(requests // 10, limit)
    flowing = min(limit, requests // 10 * 10)
    assert flowing * 0.9 - 1 <= flowed <= flowing * 1.1


async def test_200_requests_at_60_a_minute_at_once_on_two_processes(pool: Pool) -> None:
    house = Processes(pool, 2)
    permits = await asyncio.gather(*(house.limiters[n % 2].take("partner:acme", 60) for n in range(200)))
    assert 54 <= sum(permit.wait_s == 0 for permit in permits) <= 66


async def test_there_is_no_write_for_each_request(pool: Pool) -> None:
    house = Processes(pool, 2)
    assert await house.passed(5000, 6000) == 5000
    assert house.asked <= 40, "a twentieth of the limit at a time"
    assert await house.passed(3000, 6000) <= 1600
    asked = house.asked
    assert await house.passed(3000, 6000) == 0
    assert house.asked == asked, "once nothing is left, it is refused from memory"


async def test_many_ids_that_wait_together_are_asked_for_together(pool: Pool) -> None:
    house = Processes(pool, 1)
    ids = [f"partner:p{number}" for number in range(100)]
    permits = await asyncio.gather(*(house.limiters[0].take(id_, 600) for id_ in ids for _ in range(3)))
    assert {permit.wait_s for permit in permits} == {0}
    assert house.asked <= 2


async def test_what_one_process_does_not_use_the_others_get(pool: Pool) -> None:
    house = Processes(pool, 2)
    first, second = house.limiters
    assert (await first.take("partner:acme", 60)).remaining == 59
    await first.give_back()
    passed = sum([(await second.take("partner:acme", 60)).wait_s == 0 for _ in range(60)])
    assert passed == 59


async def test_tokens_are_kept_while_they_are_used_and_given_back_at_the_end(pool: Pool) -> None:
    house = Processes(pool, 1)
    (limiter,) = house.limiters
    await limiter.take("partner:acme", 60)
    await limiter.give_back(unused_for_s=2)
    assert house.asked == 1
    await limiter.close()
    assert house.buckets[0].wishes[-1] == [Wish("partner:acme", 60, -2)]
    row = await pool.fetchrow("select id, full_at from rate_limit")
    assert tuple(row) == ("partner:acme", NOON + timedelta(seconds=1))


async def test_headers_tell_of_all_processes(pool: Pool) -> None:
    house = Processes(pool, 2)
    permits = [await house.limiters[n % 2].take("partner:acme", 5) for n in range(6)]
    assert [permit.remaining for permit in permits] == [4, 3, 2, 1, 0, 0]
    assert [permit.reset_s for permit in permits] == [12, 24, 36, 48, 60, 60]
    assert [permit.wait_s for permit in permits] == [0, 0, 0, 0, 0, 12]


async def test_a_limit_that_is_changed_holds_at_once(pool: Pool) -> None:
    house = Processes(pool, 1)
    assert await house.passed(100, 60) == 60
    assert await house.passed(100, 600) == 0, "the bucket is empty, whatever its size"
    house.later(1)
    assert await house.passed(100, 600) == 10


async def test_each_counts_by_itself_while_the_buckets_are_away(pool: Pool) -> None:
    house = Processes(pool, 2)
    for each in house.buckets:
        each.away = True
    with capture_logs() as logs:
        assert await house.passed(400, 60) == 120
    assert house.asked == 2, "and does not ask with each request"
    assert [each["log_level"] for each in logs] == ["warning"] * 2
    for each in house.buckets:
        each.away = False
    house.later(6)
    with capture_logs() as logs:
        assert 54 <= await house.passed(200, 60) <= 66
    assert [each["log_level"] for each in logs] == ["info"] * 2


async def test_a_database_that_says_nothing_holds_up_one_request_and_not_the_next(pool: Pool) -> None:
    house = Processes(pool, 1)
    house.buckets[0].silent = True
    async with asyncio.timeout(20):
        assert await house.passed(100, 60) == 60
    assert house.asked == 1


async def test_a_hand_that_cannot_be_given_back_lapses(pool: Pool) -> None:
    house = Processes(pool, 1)
    await house.limiters[0].take("partner:acme", 60)
    house.buckets[0].away = True
    await house.limiters[0].give_back()
    house.buckets[0].away = False
    assert await house.passed(100, 60) == 57


async def test_processes_take_buckets_in_one_order(pool: Pool) -> None:
    """Otherwise two that want the same buckets would wait for each other."""
    ids = [f"partner:p{number}" for number in range(20)]
    stores = [BucketStore(pool), BucketStore(pool)]
    wishes = [[Wish(id_, 60, 1) for id_ in order] for order in (ids, ids[::-1])]
    async with asyncio.timeout(60):
        await asyncio.gather(*(stores[n % 2].settle(wishes[n % 2], NOON.timestamp()) for n in range(40)))
    rows = await pool.fetch("select distinct full_at from rate_limit")
    assert [row["full_at"] for row in rows] == [NOON + timedelta(seconds=40)]
