"""Offers with single codes, for tests: a till that takes them, and what is there of the codes."""

import random
from collections.abc import Sequence
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.codes import drawn
from abacus.engage.limits.types import Limits
from abacus.engage.offers.codes.code_sweeper import CodeSweeper
from abacus.engage.offers.codes.loader import AT_ONCE, Batch, CodeLoader, Loaded
from abacus.engage.offers.codes.pools import batch_states
from abacus.engage.offers.decide.offer import Audience, Offer
from abacus.engage.offers.decide.offer_index import OfferIndex
from abacus.engage.offers.decide.reservation import Reservation
from abacus.engage.offers.qualifier import Qualifier
from abacus.engage.offers.till import Order, Paying, Till
from abacus.platform.postgres import Pool
from abacus.pricing.decide.book import CardBook
from abacus.signals.facts.types import FactRegistry
from tests.engage.offers.taken import CARD, CODE_KEY, NOW, Desk, desk, lunch
from tests.engage.offers.tilled import Strangers, basket, item

CODED: Final = lunch(audience=Audience.CODE, limits=Limits())
TEA: Final = lunch(name="tea", number=2, audience=Audience.CODE)


class Coded(NamedTuple):
    """A till that takes offers by code, and what is beside it."""

    till: Till
    taking: Desk
    sweeper: CodeSweeper


def coded(pool: Pool, clock: Clock, *offers: Offer, slot: int = 1) -> Coded:
    index, by_name = OfferIndex(), {each.name: each for each in offers}
    for each in offers:
        index.put(each, None)

    async def offer_of(name: str, _: int) -> Offer:
        return by_name[name]

    book = CardBook([CARD])
    qualifier = Qualifier(
        lambda: index, lambda: book, members=Strangers(), segments=dict, facts=FactRegistry(), clock=clock
    )
    taking = desk(pool, clock, slot)
    till = Till(qualifier, taking.reservations, taking.redemptions, taking.codes, offer_of=offer_of, clock=clock)
    return Coded(till, taking, CodeSweeper(pool, clock, taking.codes))


def codes(count: int) -> list[str]:
    """Always the same ones."""
    rng = random.Random(1)
    return [drawn(rng.randrange) for _ in range(count)]


async def load(
    pool: Pool, some: Sequence[str], offer: str = CODED.name, batch: str = "one", *, at_once: int = AT_ONCE
) -> Loaded:
    into = Batch(offer, "SG", batch, is_checked=True, made_by="person:ann")
    return await CodeLoader(pool, CODE_KEY).load(into, some, NOW, at_once=at_once)


def order(key: int | str, *typed: str, member_id: str = "bob", offers: Sequence[str] = (CODED.name,)) -> Order:
    items = (item(),)
    facts = f"{member_id} {offers} {typed}"
    return Order("partner:shop", f"api:shop:{key}", facts, member_id, offers, typed, basket(*items), lambda _: items)


def paying(of: Reservation) -> Paying:
    return Paying(of.reservation_id, of.caller, basket(item()), lambda _: (item(),))


async def counted(pool: Pool, offer: str = CODED.name) -> tuple[int, int, int, int]:
    """The codes that are loaded, used, reserved and free."""
    batches = await batch_states(pool, [offer])
    return (
        sum(each.loaded for each in batches),
        sum(each.used for each in batches),
        sum(each.held for each in batches),
        sum(each.free for each in batches),
    )
