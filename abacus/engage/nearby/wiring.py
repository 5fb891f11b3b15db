"""How answers about a point are put together: where places and regions lie, and what is on offer there."""

from typing import NamedTuple

from abacus.engage.nearby.ground import KeptGround
from abacus.engage.nearby.nearby import Nearby
from abacus.engage.nearby.offers_here import OffersHere, Writer
from abacus.engage.offers.wiring import AskedOffers
from abacus.platform.patience import until_available
from abacus.platform.postgres import Pool
from abacus.platform.reading.caches import Caches
from abacus.platform.wiring import Wiring
from abacus.signals.places.wiring import maps_in_use


class NearbyRooms(NamedTuple):
    """What tells what is near a point, and what is on offer there."""

    nearby: Nearby
    offers: OffersHere


async def nearby_in_use(wiring: Wiring, pool: Pool, asked: AskedOffers, caches: Caches, writer: Writer) -> NearbyRooms:
    """What is answered from is in memory before this returns."""
    maps = maps_in_use(wiring, pool)
    await until_available(maps.refresh, wiring.health)
    ground = KeptGround(asked.places, asked.regions, maps, [asked.offers])
    await ground.survey()
    index = asked.offers.value()
    offers = OffersHere(asked.qualifier, index, maps.value, caches, clock=wiring.clock, writer=writer)
    nearby = Nearby(ground, offers, index, caches, clock=wiring.clock)
    ground.hear(nearby)
    wiring.beside(ground.keep_surveying())
    return NearbyRooms(nearby, offers)
