"""Where events happened, by the regions in force."""

from collections.abc import Callable

from abacus.platform.patience import until_available
from abacus.platform.postgres import Pool
from abacus.platform.wiring import Wiring
from abacus.signals.events.decide.whereabouts import Locate
from abacus.signals.places.decide.point import point
from abacus.signals.places.decide.visit import Regions
from abacus.signals.places.region_directory import RegionDirectory
from abacus.signals.places.wiring import regions_in_use


def locating(regions: Callable[[], Regions]) -> Locate:
    """`regions` raises `Unavailable` when they were never read."""

    def locate(lat: float, lon: float) -> tuple[str, ...]:
        return tuple(each.id for each in regions().at(point(lat, lon)))

    return locate


async def locate_in_use(wiring: Wiring, pool: Pool) -> Locate:
    """By the regions as they change. They are in memory before this returns."""
    regions = regions_in_use(wiring, pool)
    await until_available(regions.refresh, wiring.health)
    return locating(regions.value)


async def locate_now(pool: Pool) -> Locate:
    """By the regions as they are, for a command. Raises `Unavailable`."""
    regions = RegionDirectory(pool)
    await regions.refresh()
    return locating(regions.value)
