"""What a second process saves that shares answers about categories in a Redis: of cells with a few places and many."""

import asyncio
import gc
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from abacus.api.nearby.told import Parts
from abacus.core.clock import SystemClock
from abacus.engage.nearby.nearby import Nearby
from abacus.engage.nearby.offers_here import OffersHere
from abacus.engage.offers.decide.offer import Offer
from abacus.engage.offers.decide.offer_index import OfferIndex
from abacus.engage.offers.qualifier import Qualifier
from abacus.platform.reading.caches import Caches
from abacus.platform.reading.redis_cache import opened
from abacus.platform.reading.shared_cache import NothingShared, SharedCache
from abacus.pricing.decide.book import CardBook
from abacus.signals.facts.types import FactRegistry
from abacus.signals.places.decide.place import Place
from abacus.signals.places.decide.point import Point
from abacus.signals.places.decide.region import Region
from benchmarks import nearby_examples
from benchmarks.region_examples import net
from benchmarks.report import Figure
from tests.engage.nearby.served import StandingGround, regions
from tests.engage.offers.taken import CARD
from tests.engage.offers.tilled import Strangers
from tests.support.redis import redis_server

_LESS: Final = 2  # times, for which it pays
_ACROSS: Final = 3.55  # degrees of the country
_ASKED: Final = 50  # points


class _Costs(NamedTuple):
    """Microseconds of CPU of an answer, and how long it took."""

    cpu_us: float
    took_us: float


async def measure(directory: Path, *, short: bool = False) -> list[Figure]:
    if shutil.which("redis-server") is None and shutil.which("valkey-server") is None:
        return [Figure("categories that processes share", "not looked at: there is no redis-server")]
    places, offers = (20_000, 2_000) if short else (200_000, 20_000)
    laid_out = list(nearby_examples.places(places))
    in_force = list(nearby_examples.offers(offers, places))
    figures = []
    async with redis_server(directory) as url:
        for side in (nearby_examples.SIDE, 10):
            drawn = list(net(side, side, south_west=(100.0, 1.0), size=_ACROSS / side, jags=4))
            figures += await _of_cells(url, drawn, laid_out, in_force)
    return figures


async def _of_cells(
    url: str, drawn: Sequence[Region], laid_out: Sequence[Place], in_force: Sequence[Offer]
) -> list[Figure]:
    points = [each.point for each in laid_out[:: max(1, len(laid_out) // _ASKED)]][:_ASKED]
    async with opened(url, prefix=f"{len(drawn)}-", within_s=1.0) as shared:
        processes = [_Process(drawn, laid_out, in_force, each) for each in (NothingShared(), shared, shared)]
        gc.collect()
        gc.freeze()  # as a worker does at its start
        for point in points:  # in turns, because answers are shared for half a minute
            for each in processes:
                await each.ask(point)
    alone, first, second = (each.costs(len(points)) for each in processes)
    share = alone.cpu_us / second.cpu_us
    return [
        Figure(
            f"categories of a cell of {len(laid_out) // len(drawn):,} places, asked for the first time",
            f"{alone.cpu_us:,.0f} µs of CPU, {alone.took_us:,.0f} µs",
        ),
        Figure("… by the first process that shares", f"{first.cpu_us:,.0f} µs of CPU, {first.took_us:,.0f} µs"),
        Figure(
            "… by the second",
            f"{second.cpu_us:,.0f} µs of CPU, {second.took_us:,.0f} µs",
            f"{share:.1f} times less CPU",
            f">= {_LESS} times less",
            share >= _LESS,
            anywhere=True,
        ),
    ]


class _Process:
    """It has everything in memory, and no answer yet."""

    def __init__(
        self, drawn: Sequence[Region], laid_out: Sequence[Place], in_force: Sequence[Offer], shared: SharedCache
    ) -> None:
        clock, index, book = SystemClock(), OfferIndex(), CardBook([CARD])
        for each in in_force:
            index.put(each, None)
        qualifier = Qualifier(
            lambda: index, lambda: book, members=Strangers(), segments=dict, facts=FactRegistry(), clock=clock
        )
        ground = StandingGround(regions(*drawn), *laid_out)
        self._caches = Caches(clock, shared=shared, settings={})
        here = OffersHere(qualifier, index, ground.maps, self._caches, clock=clock, writer=Parts())
        self._nearby = Nearby(ground, here, index, self._caches, clock=clock)

        self._cpu_s = self._took_s = 0.0

    async def ask(self, point: Point) -> None:
        cpu, began = time.process_time(), time.perf_counter()
        await self._nearby.categories(point, lambda _: True)
        while self._caches.refreshing:  # noqa: ASYNC110  # turns of the loop
            await asyncio.sleep(0)
        self._cpu_s += time.process_time() - cpu
        self._took_s += time.perf_counter() - began

    def costs(self, asked: int) -> _Costs:
        return _Costs(1e6 * self._cpu_s / asked, 1e6 * self._took_s / asked)
