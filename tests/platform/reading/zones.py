"""A route that is cached: what a ride costs at a point of a line, which is cut into zones."""

from bisect import bisect_right
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from math import inf, nextafter

from hypothesis import strategies as st

from abacus.core.clock import SystemClock
from abacus.platform.reading.answer_cache import AnswerCache
from abacus.platform.reading.decide.lifetimes import Lifetimes
from abacus.platform.reading.types import Route
from tests.support.cached_routes import CachedRoute

BORDERS = (1.0, 2.5, 2.75, 4.0)  # a border belongs to the zone above it
_AT_BORDERS = [each for border in BORDERS for each in (nextafter(border, -inf), border, nextafter(border, inf))]


class Zones:
    """`Serving`, with the way from a point to a key, and whether a change is announced."""

    def __init__(self, *, rounds: bool = False, announces: bool = True) -> None:
        self._rounds = rounds
        self._announces = announces
        self._prices = [10 * zone for zone in range(len(BORDERS) + 1)]
        route = Route[int, int](
            "zones", Lifetimes(60), 10_000, size_of=lambda *_: 8, tags_of=lambda zone, _: [f"zone:{zone}"]
        )
        self.cache = AnswerCache(route, self._price, clock=SystemClock())

    def key_of(self, request: float) -> int:
        return bisect_right(BORDERS, round(request, 1) if self._rounds else request)

    async def cached(self, request: float) -> int:
        return (await self.cache.get(self.key_of(request))).value

    async def uncached(self, request: float) -> int:
        return self._prices[bisect_right(BORDERS, request)]

    async def change(self, change: int) -> None:
        self._prices[change] += 1
        if self._announces:
            self.cache.drop([f"zone:{change}"])

    async def _price(self, zone: int) -> int:
        return self._prices[zone]


@asynccontextmanager
async def opened() -> AsyncIterator[Zones]:
    yield Zones()


ZONES = CachedRoute[float, int](
    "zones",
    requests=st.sampled_from(_AT_BORDERS) | st.floats(0, 5),
    changes=st.integers(0, len(BORDERS)),
    opened=opened,
)
