"""Of which definitions closed parts are kept."""

from datetime import datetime, timedelta

import pytest

from abacus.core.errors import Refused
from abacus.platform.postgres import Pool
from abacus.platform.reading.cache_shares import CacheShares, SettingStore
from abacus.platform.reading.caches import Caches
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.reading.cache_share import CacheShareStore, keeps_in
from abacus.signals.counters.reading.closed_parts import closed_parts
from tests.signals.counters.reading.asking import NOW, definition
from tests.support.fixed_clock import FixedClock

LONG_AGO = NOW - timedelta(days=9)


def of(number: int, published_at: datetime = LONG_AGO) -> Definition:
    return definition(id=number, published_at=published_at)


class Process:
    """What a process keeps, by the settings that it has read."""

    def __init__(self, pool: Pool, clock: FixedClock) -> None:
        caches = Caches(clock)
        self._settings = CacheShares(SettingStore(pool, clock).all, caches.switch)
        self._keeps = keeps_in(caches, caches.of_parts(closed_parts(10)), clock)

    async def hears(self) -> None:
        await self._settings.refresh()

    def keeps(self, *definitions: Definition) -> list[bool]:
        return [self._keeps(each) for each in definitions]


async def test_nothing_is_kept_until_somebody_says_so(pool: Pool) -> None:
    process = Process(pool, FixedClock(NOW))
    assert process.keeps(of(0)) == [False]  # not read yet
    await process.hears()
    assert process.keeps(of(0)) == [False]
    assert await CacheShareStore(pool, FixedClock(NOW)).share() is None


@pytest.mark.parametrize(
    ("percent", "kept", "not_kept"),
    [(0, [], [0, 34, 99, 100]), (35, [0, 34, 134, 1000], [35, 99, 199]), (100, [0, 34, 99, 4711], [])],
)
async def test_the_share_is_by_the_last_two_digits(
    pool: Pool, percent: int, kept: list[int], not_kept: list[int]
) -> None:
    store, process = CacheShareStore(pool, FixedClock(NOW)), Process(pool, FixedClock(NOW))
    assert await store.set(50, by="login:ann") != await store.set(percent, by="login:bob")
    await process.hears()
    assert process.keeps(*map(of, [*kept, *not_kept])) == [True] * len(kept) + [False] * len(not_kept)


@pytest.mark.parametrize("percent", [-1, 101])
async def test_a_share_is_a_percentage(pool: Pool, percent: int) -> None:
    with pytest.raises(Refused, match="between 0 and 100"):
        await CacheShareStore(pool, FixedClock(NOW)).set(percent, by="login:ann")


async def test_it_is_switched_off_with_all_caches(pool: Pool) -> None:
    settings, process = SettingStore(pool, FixedClock(NOW)), Process(pool, FixedClock(NOW))
    await CacheShareStore(pool, FixedClock(NOW)).set(100, by="login:ann")
    for percent, kept in ((0, False), (100, True)):
        await settings.set("caches", percent, by="login:ann")
        await process.hears()
        assert process.keeps(of(7)) == [kept]


async def test_nothing_is_kept_of_what_was_just_published(pool: Pool) -> None:
    """Parts are kept for an hour, so none is left of the time before."""
    process = Process(pool, FixedClock(NOW))
    await CacheShareStore(pool, FixedClock(NOW)).set(100, by="login:ann")
    await process.hears()
    assert process.keeps(*(of(7, NOW - timedelta(minutes=ago)) for ago in (0, 60, 62))) == [False, False, True]


async def test_nor_of_what_a_backfill_counts_for(pool: Pool) -> None:
    """By the clock of the database, whatever that of the backfill shows."""
    clock = FixedClock(await pool.fetchval("select now()"))
    store, process = CacheShareStore(pool, FixedClock(NOW)), Process(pool, clock)
    await store.set(100, by="login:ann")
    await store.replayed(of(7), by="login:ann")
    await process.hears()
    assert process.keeps(of(7), of(8)) == [False, True]
    clock.set(clock.now() + timedelta(minutes=62))
    assert process.keeps(of(7)) == [True]
    known = await store.share()
    assert known is not None
    assert (known.name, known.value) == ("cache_share", 100)
