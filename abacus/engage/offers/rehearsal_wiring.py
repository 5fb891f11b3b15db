"""Offers of test keys in the sandbox: those in force, for members who are in no segment and were never counted.

What is taken there counts against limits of the sandbox's own, and takes single codes there alone. No worker awards the
points of its redemptions.
"""

import asyncio
from typing import Final, NamedTuple

from abacus.engage.downstreams.decide.question import EXTERNAL
from abacus.engage.offers.codes.code_sweeper import CodeSweeper
from abacus.engage.offers.codes.code_uses import Holders
from abacus.engage.offers.codes.shelf import CodeShelf
from abacus.engage.offers.facts import OfferSubject
from abacus.engage.offers.invented import InventedMembers
from abacus.engage.offers.members import Members
from abacus.engage.offers.qualifier import Qualifier
from abacus.engage.offers.redemptions import Redemptions
from abacus.engage.offers.reservations import Reservations, drawn_slot, unwatched_pots
from abacus.engage.offers.sweeper import ReservationSweeper
from abacus.engage.offers.till import OfferOf, Till
from abacus.platform.health import WorkerHealth
from abacus.platform.patience import until_available
from abacus.platform.postgres import Pool
from abacus.platform.reading.caches import Caches
from abacus.platform.wiring import Wiring
from abacus.signals.facts.decide.counter_sides import COUNTER
from abacus.signals.facts.one_value import OneValue
from abacus.signals.facts.types import FactRegistry

_SWEEP_EVERY_S: Final = 1.0


class RehearsedOffers(NamedTuple):
    """What answers test keys, and takes offers for them."""

    qualifier: Qualifier
    till: Till
    codes: CodeShelf


def rehearsed_offers(
    wiring: Wiring,
    pool: Pool,
    live: Qualifier,
    live_codes: CodeShelf,
    offer_of: OfferOf,
    *,
    live_pool: Pool,
    standing: str,
    caches: Caches,
) -> RehearsedOffers:
    """`pool` is of the sandbox; for `standing` see `Members`."""
    clock, slot = wiring.clock, drawn_slot()
    qualifier = rehearsed_qualifier(wiring, pool, live, standing, caches)
    pots = unwatched_pots(pool, slot)
    sweeper = ReservationSweeper(pool, clock, pots, slot=slot)
    reservations = Reservations(pool, clock, pots, sweeper.let_go, slot=slot)
    redemptions = Redemptions(pool, clock, pots, slot=slot)
    codes = live_codes.rehearsing(pool, Holders(pool, clock, sweeper.let_go), live_pool)
    for each in (reservations, redemptions, codes):
        wiring.at_the_end(each.close)
    wiring.beside(_keep_sweeping(sweeper, CodeSweeper(pool, clock, codes)))
    return RehearsedOffers(
        qualifier, Till(qualifier, reservations, redemptions, codes, offer_of=offer_of, clock=clock), codes
    )


def rehearsed_qualifier(wiring: Wiring, pool: Pool, live: Qualifier, standing: str, caches: Caches) -> Qualifier:
    """What answers test keys. `pool` is of the sandbox; for `standing` see `Members`."""
    members = Members(pool, standing=standing, clock=wiring.clock, caches=caches)
    wiring.at_the_end(members.close)
    invented = InventedMembers(members, live.by_invitation)
    return live.rehearsing(invented, FactRegistry[OfferSubject](OneValue(COUNTER, 0), OneValue(EXTERNAL, None)))


async def _keep_sweeping(sweeper: ReservationSweeper, codes: CodeSweeper) -> None:
    health = WorkerHealth("offers that are taken in the sandbox")
    while True:
        await until_available(sweeper.sweep, health)
        await until_available(codes.sweep, health)
        await asyncio.sleep(_SWEEP_EVERY_S)
