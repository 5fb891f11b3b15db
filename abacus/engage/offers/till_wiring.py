"""How taking offers is put together: the pots of this process, what lets go of what is overdue, and the till."""

import asyncio
from typing import Final

from abacus.engage.offers.counted import CountedSweeper, CountedTill
from abacus.engage.offers.offer_store import OfferStore, OfferVersions
from abacus.engage.offers.redemptions import Redemptions
from abacus.engage.offers.reservations import Reservations, drawn_slot, pots_of_offers
from abacus.engage.offers.status import keep_measuring
from abacus.engage.offers.sweeper import ReservationSweeper
from abacus.engage.offers.till import Till
from abacus.engage.offers.wiring import AskedOffers, watch_pots
from abacus.platform.health import WorkerHealth
from abacus.platform.patience import until_available
from abacus.platform.postgres import LOOKUPS_BY_VALUES
from abacus.platform.wiring import Wiring

_CONNECTIONS: Final = 6  # rounds of reserving and of redeeming, two each; rollbacks; the sweeper
_WITHIN_S: Final = 5.0
_SWEEP_EVERY_S: Final = 1.0


async def offer_till(wiring: Wiring, asked: AskedOffers) -> Till:
    """It writes over connections of its own."""
    clock, slot = wiring.clock, drawn_slot()
    pool = await wiring.pool(size=_CONNECTIONS, settings=LOOKUPS_BY_VALUES, keeps_nothing=True, within_s=_WITHIN_S)
    pots = pots_of_offers(pool, slot)
    sweeper = CountedSweeper(pool, clock, pots, slot=slot)
    reservations = Reservations(pool, clock, pots, sweeper.let_go, slot=slot)
    redemptions = Redemptions(pool, clock, pots, slot=slot)
    watch_pots(wiring, pool, pots, asked)
    wiring.at_the_end(reservations.close)
    wiring.at_the_end(redemptions.close)
    apart = WorkerHealth("offers that are taken")  # without the database, offers are shown from memory all the same
    wiring.beside(_keep_sweeping(sweeper, apart))
    wiring.beside(keep_measuring(pool, clock))
    return CountedTill(asked.qualifier, reservations, redemptions, OfferVersions(OfferStore(pool)).of, clock)


async def _keep_sweeping(sweeper: ReservationSweeper, health: WorkerHealth) -> None:
    while True:
        await until_available(sweeper.sweep, health)
        await asyncio.sleep(_SWEEP_EVERY_S)
