"""How taking offers is put together: the pots of this process, what lets go of what is overdue, and the till."""

import asyncio
from contextlib import suppress
from functools import partial
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.engage.offers.codes.code_key import TABLE, CodeRulesInUse
from abacus.engage.offers.codes.code_sweeper import CodeSweeper
from abacus.engage.offers.codes.code_uses import Holders
from abacus.engage.offers.codes.shelf import CodeShelf
from abacus.engage.offers.codes.status import measure_codes
from abacus.engage.offers.counted import CountedSweeper, CountedTill
from abacus.engage.offers.offer_store import OfferStore, OfferVersions
from abacus.engage.offers.redemptions import Redemptions
from abacus.engage.offers.reservations import Reservations, drawn_slot, pots_of_offers
from abacus.engage.offers.returns import OfferReturns
from abacus.engage.offers.status import measure
from abacus.engage.offers.sweeper import ReservationSweeper
from abacus.engage.offers.till import Till
from abacus.engage.offers.wiring import AskedOffers, watch_pots
from abacus.platform.health import WorkerHealth
from abacus.platform.measuring import keep_measuring
from abacus.platform.patience import until_available
from abacus.platform.postgres import LOOKUPS_BY_VALUES, Pool
from abacus.platform.wiring import Wiring

_CONNECTIONS: Final = 6  # rounds of reserving and of redeeming, two each; rollbacks; the sweeper
_WITHIN_S: Final = 5.0
_SWEEP_EVERY_S: Final = 1.0
_COUNT_CODES_EVERY_S: Final = 60.0  # it reads a row for each code that was used


class TakenOffers(NamedTuple):
    """What takes offers, and the codes that it takes."""

    till: Till
    codes: CodeShelf


async def taken_offers(wiring: Wiring, asked: AskedOffers) -> TakenOffers:
    """It writes over connections of its own."""
    clock, slot = wiring.clock, drawn_slot()
    pool = await wiring.pool(size=_CONNECTIONS, settings=LOOKUPS_BY_VALUES, keeps_nothing=True, within_s=_WITHIN_S)
    pots = pots_of_offers(pool, slot)
    sweeper = CountedSweeper(pool, clock, pots, slot=slot)
    reservations = Reservations(pool, clock, pots, sweeper.let_go, slot=slot)
    redemptions = Redemptions(pool, clock, pots, slot=slot)
    watch_pots(wiring, pool, pots, asked)
    wiring.at_the_end(reservations.close)
    codes = await _codes(wiring, pool, sweeper)
    wiring.at_the_end(redemptions.close)
    wiring.at_the_end(codes.close)
    apart = WorkerHealth("offers that are taken")  # without the database, offers are shown from memory all the same
    wiring.beside(_keep_sweeping(sweeper, CodeSweeper(pool, clock, codes), apart))
    wiring.beside(keep_measuring("offers", partial(measure, pool, clock)))
    wiring.beside(keep_measuring("single codes", partial(measure_codes, pool, clock), every_s=_COUNT_CODES_EVERY_S))
    offer_of = OfferVersions(OfferStore(pool)).of
    till = CountedTill(asked.qualifier, reservations, redemptions, codes, offer_of=offer_of, clock=clock)
    return TakenOffers(till, codes)


async def _codes(wiring: Wiring, pool: Pool, sweeper: ReservationSweeper) -> CodeShelf:
    rules = wiring.keep(CodeRulesInUse(pool, wiring.secrets()), on=(TABLE,))
    with suppress(Unavailable):  # offers without single codes are taken all the same
        await rules.refresh()
    return CodeShelf(pool, wiring.clock, rules.value, Holders(pool, wiring.clock, sweeper.let_go))


def offer_returns(pool: Pool, clock: Clock) -> OfferReturns:
    slot = drawn_slot()
    return OfferReturns(pool, clock, Redemptions(pool, clock, pots_of_offers(pool, slot), slot=slot))


async def _keep_sweeping(sweeper: ReservationSweeper, codes: CodeSweeper, health: WorkerHealth) -> None:
    while True:
        await until_available(sweeper.sweep, health)
        await until_available(codes.sweep, health)
        await asyncio.sleep(_SWEEP_EVERY_S)
