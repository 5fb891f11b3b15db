"""What is near a point, at work: a few regions that share borders, places on both sides of them, and any offers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from math import inf, nextafter
from typing import Any, Final, NamedTuple

from hypothesis import strategies as st

from abacus.api.nearby.told import Parts
from abacus.core.errors import Refused
from abacus.engage.nearby.decide.ask import NearbyAsk
from abacus.engage.nearby.decide.here import MOST_SHOWN, Here, PlacesOnOffer
from abacus.engage.nearby.decide.territory import Territory
from abacus.engage.nearby.nearby import Nearby
from abacus.engage.nearby.offers_here import OffersHere
from abacus.engage.offers.decide.ask import Ask, Scenario
from abacus.engage.offers.decide.basket import Item
from abacus.engage.offers.decide.offer import Benefit, Offer
from abacus.engage.offers.decide.offer_index import OfferIndex
from abacus.engage.offers.qualifier import Qualifier
from abacus.platform.reading.caches import Caches
from abacus.platform.reading.shared_cache import NothingShared, SharedCache
from abacus.pricing.decide.book import CardBook
from abacus.signals.facts.types import FactRegistry
from abacus.signals.places.decide.country_index import build
from abacus.signals.places.decide.country_map import CountryMap, Maps
from abacus.signals.places.decide.place import Place
from abacus.signals.places.decide.place_index import PlaceIndex
from abacus.signals.places.decide.point import Point
from abacus.signals.places.decide.region import Region
from abacus.signals.places.decide.region_index import RegionIndex
from tests.engage.offers.any_offers import offers as any_offers
from tests.engage.offers.examples import NOW, PERCENT, offer, within
from tests.engage.offers.taken import CARD
from tests.engage.offers.tilled import Strangers
from tests.support.cached_routes import CachedRoute
from tests.support.fixed_clock import FixedClock

BORDER: Final = 103.5  # of centre and east
PURCHASE: Final = 2_000  # 20 dollars
_BEFORE, _BEYOND = nextafter(BORDER, -inf), nextafter(BORDER, inf)
_LONGITUDES: Final = (102.5, 103.0, 103.2, 103.49999, BORDER, 103.50001, 103.9)


def square(id_: str, west: float, east: float, priority: int = 0, country: str = "SG") -> Region:
    ring = ((west, 1.0), (east, 1.0), (east, 2.0), (west, 2.0), (west, 1.0))
    return Region(id_, id_.title(), "zone", priority, country, ((ring,),))


def regions(*there: Region, edition: int = 1) -> RegionIndex:
    countries = {each.country for each in there}
    built = {country: build(each for each in there if each.country == country) for country in countries}
    return RegionIndex(built, dict.fromkeys(countries, edition))


def place(id_: str, lon: float, merchant: str = "m1", **changes: Any) -> Place:
    at = Place(
        id=id_,
        name=id_.title(),
        point=(lon, 1.5),
        country="SG",
        merchant=merchant,
        brand="b1",
        categories=("food", "noodles"),
    )
    return at._replace(**changes)


PLACES: Final = (
    place("s1", 103.2),
    place("s2", 103.49),
    place("s3", BORDER, "m2", brand="b2", categories=("rides",)),
    place("s4", 103.51, "m2", brand=None, categories=()),
    place("s5", 102.9),
)
REGIONS: Final = (square("centre", 103.0, BORDER, 1), square("east", BORDER, 104.0), square("sg", 102.95, 104.0))


class StandingGround:
    """Places and regions that a test lays out."""

    def __init__(self, at: RegionIndex, *places: Place) -> None:
        self.age_s = 0.0
        self.map = CountryMap("SG", "Asia/Singapore")
        self._places = PlaceIndex()
        self._territory = Territory(at)
        for each in places:
            self.put(each)

    def put(self, each: Place) -> None:
        self._territory.put(self._places.put(each), each)

    def redraw(self, *there: Region) -> None:
        """Other regions are in force."""
        self._territory = Territory(regions(*there, edition=2))
        for number in self._places.numbers():
            if (each := self._places.at(number)) is not None:
                self._territory.put(number, each)

    def territory(self) -> Territory:
        return self._territory

    def places(self) -> PlaceIndex:
        return self._places

    async def reach(self, version: int) -> None:
        if self._places.version < version:
            raise Refused(f"version {version} is not laid out")

    def maps(self) -> Maps:
        return Maps({"SG": self.map}, frozenset({"SG"}))


@dataclass(frozen=True)
class Served:
    """All that answers about a point, with its clock and its offers."""

    clock: FixedClock
    index: OfferIndex
    qualifier: Qualifier
    ground: StandingGround
    offers: OffersHere
    nearby: Nearby
    caches: Caches

    async def rests(self) -> None:
        """Returns when nothing is refreshed any more, nor written for others."""
        async with asyncio.timeout(10):
            while self.caches.refreshing:  # noqa: ASYNC110  # turns of the loop, not time
                await asyncio.sleep(0)

    async def exact(self, at: Place) -> Here:
        """What is on offer for everybody at a place, by all that the place says."""
        territory = self.ground.territory()
        item = Item("", "", at.merchant, at.brand or "", at.categories, PURCHASE, "SGD")
        item = item._replace(place=at.id, regions=territory.regions_of(at))
        (answer,) = (await self.qualifier.qualify(Ask(CARD, [item], Scenario.ALL))).items
        shown = [answer.best, *answer.others] if answer.best is not None else []
        earns = {"rides": "1", "food": "2"}.get(next(iter(at.categories), ""))
        return Here(Parts().here(shown[:MOST_SHOWN], "SGD", len(shown), earns), len(shown))


def served(*offers: Offer, at: datetime = NOW, shared: SharedCache | None = None) -> Served:
    """At a time, as one of the processes that share a cache."""
    clock, index, book = FixedClock(at), OfferIndex(), CardBook([CARD])
    for each in offers:
        index.put(each, None)
    qualifier = Qualifier(
        lambda: index, lambda: book, members=Strangers(), segments=dict, facts=FactRegistry(), clock=clock
    )

    def seconds() -> float:
        return (clock.now() - at).total_seconds()

    ground = StandingGround(regions(*REGIONS), *PLACES)
    caches = Caches(clock, settings={}, monotonic=seconds, shared=shared or NothingShared())
    here = OffersHere(qualifier, index, ground.maps, caches, clock=clock, writer=Parts())
    return Served(clock, index, qualifier, ground, here, Nearby(ground, here, index, caches, clock=clock), caches)


class Change(NamedTuple):
    """Time goes by, then an offer comes in place of that of its number, or goes, or its budget does."""

    minutes: int
    came: Offer | None = None
    gone: int | None = None
    spent: frozenset[int] | None = None
    moved: Place | None = None


_NUMBERS: Final = st.integers(1, 39)
changes: Final = st.builds(
    Change,
    st.sampled_from((0, 0, 1, 14, 60, 8 * 60)),
    came=st.none() | any_offers().map(lambda drawn: drawn[0]),
    gone=st.none() | _NUMBERS,
    spent=st.none() | st.frozensets(_NUMBERS, max_size=3),
    moved=st.none() | st.builds(place, st.sampled_from(("s1", "s3")), st.sampled_from(_LONGITUDES)),
)


class _AtWork:
    """A route that is changed."""

    def __init__(self, shared: SharedCache | None = None) -> None:
        self.served = served(*(offer(each, Benefit(PERCENT, Decimal(each))) for each in (5, 6)), shared=shared)

    async def change(self, change: Change) -> None:
        index, ground, nearby = self.served.index, self.served.ground, self.served.nearby
        self.served.clock.set(self.served.clock.now() + timedelta(minutes=change.minutes))
        if change.came is not None:
            index.put(change.came, None)
        if change.gone is not None:
            index.remove(change.gone)
        if change.spent is not None:
            index.spent = change.spent
        if change.moved is not None:
            before = ground.places().of(change.moved.id)
            assert before is not None
            ground.places().version += 1
            ground.put(change.moved)
            nearby.places_changed([ground.territory().regions_of(each) for each in (before, change.moved)])


class OffersAtWork(_AtWork):
    def key_of(self, request: str) -> Any:
        """As it is kept beside the place."""
        ground = self.served.ground
        number = ground.places().number_of(request)
        assert number is not None
        (note,) = self.served.offers.notes(ground.places(), [number], ground.territory())
        return note.meaning

    async def cached(self, request: str) -> Here:
        found = await self.served.offers.all_of_everybody([self.key_of(request)])
        return found.here[0]._replace(until=0)

    async def uncached(self, request: str) -> Here:
        return (await self.served.exact(self._place(request)))._replace(until=0)

    def _place(self, id_: str) -> Place:
        found = self.served.ground.places().of(id_)
        assert found is not None
        return found


class CategoriesAtWork(_AtWork):
    def key_of(self, request: Point) -> Any:
        return self.served.nearby.where(request, lambda _: True).regions

    async def cached(self, request: Point) -> Any:
        found = await self.served.nearby.categories(request, lambda _: True)
        return found.on_offer._replace(until=0)

    async def uncached(self, request: Point) -> Any:
        territory, places = self.served.ground.territory(), self.served.ground.places()
        here = self.key_of(request)
        there = [each for each in places if here and territory.regions_of(each) == here]
        found = PlacesOnOffer()
        for each in there:
            found.add(each, await self.served.exact(each))
        return found.counted()._replace(until=0)


@asynccontextmanager
async def _offers() -> AsyncIterator[OffersAtWork]:
    yield OffersAtWork()


@asynccontextmanager
async def _categories() -> AsyncIterator[CategoriesAtWork]:
    yield CategoriesAtWork()


points: Final = st.builds(lambda lon: (lon, 1.5), st.sampled_from((*_LONGITUDES, _BEFORE, _BEYOND)))
OFFERS_HERE: Final = CachedRoute[str, Change](
    "nearby.offers", st.sampled_from([each.id for each in PLACES]), changes, _offers
)
CATEGORIES: Final = CachedRoute[Point, Change]("nearby.categories", points, changes, _categories)
NEAR_BORDER: Final = NearbyAsk((BORDER, 1.5), k=3)
CENTRE_ONLY: Final = within("region centre")
