"""A region and places of tests, as they are loaded at work."""

from abacus.core.clock import SystemClock
from abacus.platform.postgres import Pool, nothing_else
from abacus.signals.places.decide.place import Place
from abacus.signals.places.decide.region import Region
from abacus.signals.places.place_store import PlaceStore
from abacus.signals.places.region_store import Loading, RegionStore
from tests.support.editions import edition_of


def square(id_: str, west: float, east: float, priority: int = 0) -> Region:
    """From the first parallel to the second."""
    ring = ((west, 1.0), (east, 1.0), (east, 2.0), (west, 2.0), (west, 1.0))
    return Region(id_, id_.title(), "zone", priority, "SG", ((ring,),))


def shop_at(id_: str, lon: float, merchant: str = "m-17") -> Place:
    """A restaurant in the middle between them."""
    return Place(
        id=id_,
        name=id_.title(),
        point=(lon, 1.5),
        country="SG",
        merchant=merchant,
        brand="oven",
        categories=("food", "pizza"),
    )


async def load_regions(pool: Pool, *regions: Region) -> None:
    """From now on, these are the regions of Singapore."""
    loading = Loading("person:ann", SystemClock().now(), waits=False)
    await RegionStore(pool).load(edition_of("SG", regions), loading, nothing_else)


async def load_places(pool: Pool, *places: Place) -> int:
    """The version since which they are there."""
    return (await PlaceStore(pool).enter(places, SystemClock().now())).version
