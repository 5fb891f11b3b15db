"""A counter at which a command asks for offers and takes them, by the rooms that the worker `offers` has."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from abacus.cli.downstreams.asked import services
from abacus.cli.offers.family import offer_desk
from abacus.cli.offers.in_force import offers_in_force
from abacus.cli.terminal.command_actor import CommandActor, actor
from abacus.cli.terminal.shell import secrets
from abacus.engage.offers.codes.code_key import CodeRulesInUse
from abacus.engage.offers.codes.code_uses import Holders
from abacus.engage.offers.codes.shelf import CodeShelf
from abacus.engage.offers.offer_store import OfferStore, OfferVersions
from abacus.engage.offers.qualifier import Qualifier
from abacus.engage.offers.redemptions import Redemptions
from abacus.engage.offers.reservations import Reservations, drawn_slot, unwatched_pots
from abacus.engage.offers.sweeper import ReservationSweeper
from abacus.engage.offers.till import Till


class OfferCounter(NamedTuple):
    """The actor of the command, and what it asks."""

    at: CommandActor
    qualifier: Qualifier
    codes: CodeShelf
    till: Till


@asynccontextmanager
async def offer_counter() -> AsyncIterator[OfferCounter]:
    async with actor() as at, services(at) as asking:
        pool, clock, slot = at.pool, at.clock, drawn_slot()
        beside = await offer_desk(at).around()
        async with offers_in_force(at, clock, asking, beside) as qualifier:
            rules = CodeRulesInUse(pool, secrets())
            await rules.refresh()
            pots = unwatched_pots(pool, slot)
            let_go = ReservationSweeper(pool, clock, pots, slot=slot).let_go
            codes = CodeShelf(pool, clock, rules.value, Holders(pool, clock, let_go))
            reservations = Reservations(pool, clock, pots, let_go, slot=slot)
            redemptions = Redemptions(pool, clock, pots, slot=slot)
            offer_of = OfferVersions(OfferStore(pool)).of
            till = Till(qualifier, reservations, redemptions, codes, offer_of=offer_of, clock=clock)
            try:
                yield OfferCounter(at, qualifier, codes, till)
            finally:
                for each in (reservations, redemptions, codes):
                    await each.close()
