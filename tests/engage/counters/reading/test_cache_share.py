"""The share of the definitions whose closed parts are kept."""

import pytest

from abacus.core.errors import Refused
from abacus.engage.counters.reading.cache_share import CacheShare, CacheShareStore
from abacus.platform.postgres import Pool
from tests.engage.counters.reading.asking import NOW
from tests.support.fixed_clock import FixedClock


async def test_nothing_is_kept_until_somebody_says_so(pool: Pool) -> None:
    store = CacheShareStore(pool, FixedClock(NOW))
    share = CacheShare(store.read)
    assert not share.includes(0)  # not read yet
    await share.refresh()
    assert not share.includes(0)
    assert await store.read() is None


@pytest.mark.parametrize(
    ("percent", "kept", "not_kept"),
    [(0, [], [0, 34, 99, 100]), (35, [0, 34, 134, 1000], [35, 99, 199]), (100, [0, 34, 99, 4711], [])],
)
async def test_the_share_is_by_the_last_two_digits(
    pool: Pool, percent: int, kept: list[int], not_kept: list[int]
) -> None:
    store = CacheShareStore(pool, FixedClock(NOW))
    share = CacheShare(store.read)
    assert await store.set(50, by="login:ann") != await store.set(percent, by="login:bob")
    await share.refresh()
    assert [each for each in [*kept, *not_kept] if share.includes(each)] == kept


@pytest.mark.parametrize("percent", [-1, 101])
async def test_a_share_is_a_percentage(pool: Pool, percent: int) -> None:
    with pytest.raises(Refused, match="between 0 and 100"):
        await CacheShareStore(pool, FixedClock(NOW)).set(percent, by="login:ann")
