"""Each route whose answers are kept is held to its key. A route that is wrong is found."""

from math import inf, nextafter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engage.nearby.served import CATEGORIES, OFFERS_HERE
from tests.platform.reading.zones import ZONES, Zones
from tests.signals.counters.reading.served import COUNTS_AT_WORK
from tests.support.cached_routes import Alter, Ask, CachedRoute, held_to_its_key

pytestmark = pytest.mark.once

ROUTES: list[CachedRoute[Any, Any]] = [ZONES, OFFERS_HERE, CATEGORIES, COUNTS_AT_WORK]


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
@given(data=st.data())
async def test_requests_of_one_key_have_one_answer(route: CachedRoute[Any, Any], data: st.DataObject) -> None:
    steps = data.draw(st.lists(st.builds(Ask, route.requests) | st.builds(Alter, route.changes), max_size=40))
    async with route.opened() as serving:
        await held_to_its_key(serving, steps)


async def test_a_key_that_rounds_is_found_at_a_border() -> None:
    steps: list[Ask | Alter] = [Ask(2.5), Ask(nextafter(2.5, -inf))]
    with pytest.raises(AssertionError, match=r"2\.5 and 2\.4999\d+ have the key 2, and not the same answer"):
        await held_to_its_key(Zones(rounds=True), steps)
    await held_to_its_key(Zones(), steps)


async def test_a_change_that_is_not_announced_is_found() -> None:
    steps: list[Ask | Alter] = [Ask(3.0), Alter(3), Ask(3.0)]
    with pytest.raises(AssertionError, match=r"3\.0 is not told what holds"):
        await held_to_its_key(Zones(announces=False), steps)
    await held_to_its_key(Zones(), steps)
