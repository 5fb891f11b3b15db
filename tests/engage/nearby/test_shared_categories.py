"""Processes share what they have counted of regions, and none is told what it does not know by itself."""

import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from prometheus_client import REGISTRY

from abacus.engage.nearby.decide.ask import Categories
from abacus.engage.nearby.nearby import ROUTE
from abacus.engage.offers.decide.offer import Benefit, Offer, Scope
from abacus.platform.reading.redis_cache import RedisCache, opened
from abacus.platform.reading.shared_cache import CachedValue
from abacus.signals.places.decide.point import Point
from tests.engage.nearby.served import REGIONS, CategoriesAtWork, Change, Served, changes, points, served, square
from tests.engage.offers.examples import NOW, PERCENT, offer, within
from tests.support.cached_routes import Alter, Ask, held_to_its_key
from tests.support.redis import redis_server

pytestmark = pytest.mark.once

CENTRE: Final = (103.3, 1.5)
TENTH: Final = Benefit(PERCENT, Decimal(10))


class _Earlier(NamedTuple):
    """A shared cache at the time of the tests."""

    cache: RedisCache

    async def find(self, keys: Sequence[str]) -> Mapping[str, str]:
        return await self.cache.find(keys)

    async def keep(self, values: Mapping[str, CachedValue]) -> None:
        later = (datetime.now(UTC) - NOW).total_seconds()  # a Redis forgets by its own clock
        await self.cache.keep({key: CachedValue(value, until + later) for key, (value, until) in values.items()})

    async def claim(self, key: str, *, for_s: float) -> bool:
        return await self.cache.claim(key, for_s=for_s)


@pytest.fixture
async def url(tmp_path: Path) -> AsyncIterator[str]:
    async with redis_server(tmp_path) as address:
        yield address


@pytest.fixture
async def shared(url: str) -> AsyncIterator[_Earlier]:
    async with opened(url, prefix="a-", within_s=10) as cache:
        yield _Earlier(cache)


def of(merchant: str, number: int = 1, **fields: Any) -> Offer:
    return offer(number, TENTH, scope=Scope(values=within(f"merchant {merchant}")), **fields)


async def told(at: Served) -> tuple[Categories, bool]:
    """What is on offer in the centre, and whether another process had counted it."""
    before = found_there()
    answer = await at.nearby.categories(CENTRE, lambda _: True)
    await at.rests()
    return answer, found_there() > before


def found_there() -> float:
    labels = {"route": ROUTE, "outcome": "shared"}
    return REGISTRY.get_sample_value("abacus_cache_answers_total", labels) or 0.0


async def test_another_process_counts_nothing_again(shared: _Earlier) -> None:
    one, other = (served(of("m1"), shared=shared) for _ in range(2))
    counted, was_there = await told(one)
    assert (counted.on_offer.categories, was_there) == ((("food", 2), ("noodles", 2)), False)
    other.clock.set(NOW + timedelta(seconds=7))
    found, was_there = await told(other)
    assert (found.on_offer, was_there) == (counted.on_offer, True)
    assert found.age_s == pytest.approx(7, abs=0.01)
    assert await told(other) == (found, False)  # it has it by itself now


async def test_what_came_through_another_process_is_dropped_by_a_change(shared: _Earlier) -> None:
    one, other = (served(of("m1"), shared=shared) for _ in range(2))
    await told(one)
    await told(other)
    other.index.put(of("m1", 2, basket_minimum=Decimal(1)), None)
    other.index.remove(1)
    other.index.remove(2)
    answer, was_there = await told(other)
    assert (answer.on_offer.categories, was_there) == ((), False)


@pytest.mark.parametrize(
    "change",
    [
        lambda at: at.index.put(of("m2", 2), None),
        lambda at: at.index.remove(1),
        lambda at: at.index.put(replace(of("m1"), version=2), None),
        lambda at: setattr(at.index, "spent", {1}),
        lambda at: at.ground.redraw(*REGIONS, square("pond", 103.2, 103.3, 9)),
        lambda at: setattr(at.ground.places(), "version", 7),
        lambda at: setattr(at.ground, "map", replace(at.ground.map, typical_purchase=Decimal(50))),
    ],
    ids=["an offer more", "an offer less", "another version", "no budget", "other regions", "places", "a purchase"],
)
async def test_who_has_heard_of_a_change_takes_no_answer_from_before(shared: _Earlier, change: Any) -> None:
    one, other, third = (served(of("m1"), shared=shared) for _ in range(3))
    await told(one)
    for each in (other, third):
        change(each)
        assert (await told(each))[1] is (each is third)


async def test_the_order_of_changes_does_not_matter(shared: _Earlier) -> None:
    one, other = (served(of("m1"), shared=shared) for _ in range(2))
    one.index.put(of("m2", 2), None)
    one.index.spent = {1, 2}
    one.index.put(of("m1", 3), None)
    one.index.spent = {1}
    other.index.put(of("m1", 3), None)
    other.index.spent = {1}
    other.index.put(of("m2", 2), None)
    assert [(await told(each))[1] for each in (one, other)] == [False, True]


async def test_what_the_clock_has_ended_is_not_found(shared: _Earlier) -> None:
    ends = NOW + timedelta(seconds=5)
    one, other = (served(of("m1", ends_at=ends), shared=shared) for _ in range(2))
    await told(one)
    other.clock.set(ends)
    answer, was_there = await told(other)
    assert (answer.on_offer.categories, was_there) == ((), False)


class _SideBySide:
    """Two processes that share a cache. Time goes by for both, and of other things each hears by itself."""

    def __init__(self, shared: _Earlier) -> None:
        self._all = [CategoriesAtWork(shared), CategoriesAtWork(shared)]

    def key_of(self, request: tuple[int, Point]) -> Any:
        which, at = request
        return which, self._all[which].key_of(at)

    async def cached(self, request: tuple[int, Point]) -> Any:
        which, at = request
        found = await self._all[which].cached(at)
        await self._all[which].served.rests()
        return found

    async def uncached(self, request: tuple[int, Point]) -> Any:
        which, at = request
        return await self._all[which].uncached(at)

    async def change(self, change: tuple[set[int], Change]) -> None:
        who, what = change
        for number, each in enumerate(self._all):
            await each.change(what if number in who else Change(what.minutes))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=12)
@given(data=st.data())
async def test_no_process_is_told_what_it_does_not_know(url: str, data: st.DataObject) -> None:
    who = st.sampled_from([{0}, {1}, {0, 1}])
    asks, alters = st.builds(Ask, st.tuples(st.sampled_from((0, 1)), points)), st.builds(Alter, st.tuples(who, changes))
    steps = data.draw(st.lists(asks | alters, max_size=40))
    async with opened(url, prefix=uuid.uuid4().hex, within_s=10) as cache:
        await held_to_its_key(_SideBySide(_Earlier(cache)), steps)
