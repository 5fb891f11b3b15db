"""Of which definitions closed parts are kept."""

from datetime import datetime, timedelta

import pytest

from abacus.core.errors import Refused
from abacus.platform.postgres import Pool
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.reading.cache_share import CacheShare, CacheShareStore
from tests.signals.counters.reading.asking import NOW, definition
from tests.support.fixed_clock import FixedClock

LONG_AGO = NOW - timedelta(days=9)


def of(number: int, published_at: datetime = LONG_AGO) -> Definition:
    return definition(id=number, published_at=published_at)


async def test_nothing_is_kept_until_somebody_says_so(pool: Pool) -> None:
    store = CacheShareStore(pool, FixedClock(NOW))
    share = CacheShare(store.all, FixedClock(NOW))
    assert not share.keeps(of(0))  # not read yet
    await share.refresh()
    assert not share.keeps(of(0))
    assert await store.share() is None


@pytest.mark.parametrize(
    ("percent", "kept", "not_kept"),
    [(0, [], [0, 34, 99, 100]), (35, [0, 34, 134, 1000], [35, 99, 199]), (100, [0, 34, 99, 4711], [])],
)
async def test_the_share_is_by_the_last_two_digits(
    pool: Pool, percent: int, kept: list[int], not_kept: list[int]
) -> None:
    store = CacheShareStore(pool, FixedClock(NOW))
    share = CacheShare(store.all, FixedClock(NOW))
    assert await store.set(50, by="login:ann") != await store.set(percent, by="login:bob")
    await share.refresh()
    assert [each for each in [*kept, *not_kept] if share.keeps(of(each))] == kept


@pytest.mark.parametrize("percent", [-1, 101])
async def test_a_share_is_a_percentage(pool: Pool, percent: int) -> None:
    with pytest.raises(Refused, match="between 0 and 100"):
        await CacheShareStore(pool, FixedClock(NOW)).set(percent, by="login:ann")


async def test_nothing_is_kept_of_what_was_just_published(pool: Pool) -> None:
    """Parts are kept for an hour, so none is left of the time before."""
    clock = FixedClock(NOW)
    store = CacheShareStore(pool, clock)
    share = CacheShare(store.all, clock)
    await store.set(100, by="login:ann")
    await share.refresh()
    assert [share.keeps(of(7, NOW - timedelta(minutes=ago))) for ago in (0, 60, 62)] == [False, False, True]


async def test_nor_of_what_a_backfill_counts_for(pool: Pool) -> None:
    """By the clock of the database, whatever that of the backfill shows."""
    clock = FixedClock(await pool.fetchval("select now()"))
    store = CacheShareStore(pool, FixedClock(NOW))
    share = CacheShare(store.all, clock)
    await store.set(100, by="login:ann")
    await store.replayed(of(7), by="login:ann")
    await share.refresh()
    assert [share.keeps(of(each)) for each in (7, 8)] == [False, True]
    clock.set(clock.now() + timedelta(minutes=62))
    assert share.keeps(of(7))
    known = await store.share()
    assert known is not None
    assert known.value == 100
