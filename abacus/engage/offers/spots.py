"""Where items are bought: places and their regions, out of memory or, for a look now and then, out of Postgres."""

from collections.abc import Callable, Collection, Mapping
from typing import Final

from abacus.engage.offers.decide.publications import Spots
from abacus.engage.offers.decide.spot import FindSpots, Spot, spot_of
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement
from abacus.signals.places.decide.place import Place
from abacus.signals.places.decide.place_index import PlaceIndex
from abacus.signals.places.decide.region_index import RegionIndex
from abacus.signals.places.place_store import PlaceStore
from abacus.signals.places.region_directory import RegionDirectory
from abacus.signals.places.region_store import RegionStore

_COUNTRIES: Final = Statement("select id, country from place where id = any(:ids::text[]) and not removed")


def spot_among(regions: RegionIndex, place: Place) -> Spot:
    """The place with the regions that it lies in."""
    return spot_of(place, tuple([each.id for each in regions.at(place.point)]))


def spots_in_memory(places: Callable[[], PlaceIndex], regions: Callable[[], RegionIndex]) -> FindSpots:
    async def find(ids: Collection[str]) -> Mapping[str, Spot]:
        there, where = places(), regions()
        return {each: spot_among(where, place) for each in ids if (place := there.of(each)) is not None}

    return find


def spots_stored(pool: Pool) -> FindSpots:
    async def find(ids: Collection[str]) -> Mapping[str, Spot]:
        store, regions = PlaceStore(pool), RegionDirectory(pool)
        await regions.refresh()
        stored = [each for id_ in ids if (each := await store.find(id_)) is not None]
        return {each.place.id: spot_among(regions.value(), each.place) for each in stored}

    return find


async def named_spots(pool: Pool, named: Mapping[str, Collection[str]]) -> Spots:
    """The places and the regions that a document names, as far as they are there. Raises `Unavailable`."""
    known = await RegionStore(pool).ids() if named["regions"] else {}
    regions = {each: country for country, ids in known.items() for each in named["regions"] if each in ids}
    async with passing_failures():
        rows = await pool.fetch(*_COUNTRIES(ids=list(named["places"]))) if named["places"] else []
    return {"places": dict(map(tuple, rows)), "regions": regions}
