"""How the copies of places in use are put together."""

from abacus.platform.announcements import Announced
from abacus.platform.postgres import Pool
from abacus.platform.wiring import Wiring
from abacus.signals.places.kind import MapDirectory
from abacus.signals.places.place_directory import PlaceDirectory
from abacus.signals.places.region_directory import RegionDirectory


def maps_in_use(wiring: Wiring, pool: Pool) -> MapDirectory:
    directory = MapDirectory(pool)
    return wiring.keep(directory, on=directory.tables)


def places_in_use(wiring: Wiring, pool: Pool) -> PlaceDirectory:
    directory = PlaceDirectory(pool)
    return wiring.keep(directory, on=directory.tables)


def regions_in_use(wiring: Wiring, pool: Pool) -> RegionDirectory:
    return wiring.keep(RegionDirectory(pool), on=[Announced.REGIONS])
