"""How asking for offers is put together: the offers in force, what is known of members, and what rules look up."""

from typing import NamedTuple

from abacus.engage.downstreams.wiring import outside
from abacus.engage.offers.directory import OfferDirectory
from abacus.engage.offers.facts import Countable, offer_facts
from abacus.engage.offers.members import Members
from abacus.engage.offers.qualifier import Qualifier
from abacus.engage.offers.reservations import drawn_slot
from abacus.engage.offers.shown import ShownOffers
from abacus.engage.offers.spent import TABLE, SpentOffers, SpentWatch, WatchedPots
from abacus.engage.offers.spots import spots_in_memory
from abacus.platform.patience import until_available
from abacus.platform.postgres import Pool
from abacus.platform.reading.caches import Caches
from abacus.platform.wiring import Wiring
from abacus.pricing.wiring import cards_in_use
from abacus.signals.facts.wiring import present_counter_facts
from abacus.signals.places.place_directory import PlaceDirectory
from abacus.signals.places.region_directory import RegionDirectory
from abacus.signals.places.wiring import places_in_use, regions_in_use
from abacus.signals.segments.wiring import segments_in_use


class AskedOffers(NamedTuple):
    """What answers which offers there are, what it leaves out because its budget is gone, and where items are."""

    qualifier: Qualifier
    offers: OfferDirectory
    spent: SpentOffers
    places: PlaceDirectory
    regions: RegionDirectory


async def asked_offers(wiring: Wiring, pool: Pool, standing: str, caches: Caches) -> AskedOffers:
    """What is answered from is in memory before this returns. For `standing` see `Members`."""
    clock = wiring.clock
    cards, segments = cards_in_use(wiring, pool), segments_in_use(wiring, pool)
    offers = OfferDirectory(pool, clock, segments.use)
    wiring.keep(offers, on=offers.tables)
    members = Members(
        pool,
        standing=standing,
        clock=clock,
        caches=caches,
        health=wiring.process_health,
    )
    wiring.at_the_end(members.close)
    reached = await outside(wiring, pool, webhooks_at_once=0)
    counters = await present_counter_facts(wiring, pool, lambda: Countable(offers.around().counters))
    await until_available(cards.refresh, wiring.health)
    await until_available(offers.refresh, wiring.health)
    await until_available(segments.refresh, wiring.health)
    spent = wiring.keep(SpentOffers(pool, offers.value, clock), on=(TABLE,))
    await until_available(spent.refresh, wiring.health)
    places, regions = places_in_use(wiring, pool), regions_in_use(wiring, pool)
    for each in (regions, places):
        await until_available(each.refresh, wiring.health)
    shown = ShownOffers(pool, clock, slot=drawn_slot())
    wiring.beside(shown.keep_writing())
    wiring.at_the_end(shown.write)
    qualifier = Qualifier(
        offers.value,
        cards.book,
        members=members,
        segments=segments.value,
        facts=offer_facts(counters=counters, services=reached.services.ask),
        clock=clock,
        note=shown.note,
        spots=spots_in_memory(places.value, regions.value),
    )
    return AskedOffers(qualifier, offers, spent, places, regions)


def watch_pots(wiring: Wiring, pool: Pool, pots: WatchedPots, asked: AskedOffers) -> None:
    """Offers that this process empties are left out everywhere."""
    watch = SpentWatch(pool, pots, asked.spent, index=asked.offers.value, clock=wiring.clock)
    wiring.beside(watch.keep_looking())
