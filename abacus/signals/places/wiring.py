"""How places are put together: copies of regions, shops and maps, and the following of positions."""

from functools import partial
from typing import Final

from abacus.platform.announcements import Announced
from abacus.platform.patience import until_available
from abacus.platform.postgres import LOOKUPS_BY_KEY, Pool
from abacus.platform.quarantine.counted import CountedQuarantine
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.wiring import Run, Wiring
from abacus.signals.places.kind import MapDirectory
from abacus.signals.places.place_directory import PlaceDirectory
from abacus.signals.places.position_desk import PositionDesk, Publish, without_broker
from abacus.signals.places.position_follower import PositionFollower
from abacus.signals.places.region_directory import RegionDirectory
from abacus.signals.places.visit_sweeper import VisitSweeper

_CONNECTIONS: Final = 4
_MOST_RECORDS: Final = 4_000
_GATHER_S: Final = 0.1


def maps_in_use(wiring: Wiring, pool: Pool) -> MapDirectory:
    directory = MapDirectory(pool)
    return wiring.keep(directory, on=directory.tables)


def places_in_use(wiring: Wiring, pool: Pool) -> PlaceDirectory:
    directory = PlaceDirectory(pool)
    return wiring.keep(directory, on=directory.tables)


def regions_in_use(wiring: Wiring, pool: Pool) -> RegionDirectory:
    return wiring.keep(RegionDirectory(pool), on=[Announced.REGIONS])


async def position_desk(wiring: Wiring, *, within_s: float) -> PositionDesk:
    """For positions that partners post. Without a broker none are taken."""
    publish: Publish = without_broker
    if wiring.settings.kafka_bootstrap is not None:
        publish = partial(wiring.publisher(within_s=within_s).publish, wiring.settings.positions_topic)
    return PositionDesk(publish)


async def positions(wiring: Wiring) -> Run:
    """Makes events of the regions that members enter and leave."""
    settings, clock = wiring.settings, wiring.clock
    pool = await wiring.pool(size=_CONNECTIONS, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
    regions, maps = regions_in_use(wiring, pool), maps_in_use(wiring, pool)
    await until_available(regions.refresh, wiring.health)
    await until_available(maps.refresh, wiring.health)
    follower = PositionFollower(
        pool,
        regions.value,
        maps.value,
        partial(wiring.publisher().publish, settings.events_topic),
        CountedQuarantine(QuarantineStore(pool, clock)),
        clock=clock,
        health=wiring.health,
    )
    wiring.beside(VisitSweeper(pool, clock).keep_sweeping())
    return wiring.following(
        settings.positions_topic,
        "positions",
        follower.handle,
        wiring.health,
        max_records=_MOST_RECORDS,
        gather_s=_GATHER_S,
    )
