"""An offer whose budget is gone is marked by the process that emptied it, and left out of every index."""

from collections.abc import Sequence

import pytest

from abacus.engage.limits.types import UNBOUND, Bound
from abacus.engage.offers.decide.offer import Offer
from abacus.engage.offers.decide.offer_index import OfferIndex
from abacus.engage.offers.decide.reservation import LimitReached
from abacus.engage.offers.reservations import pots_of_offers
from abacus.engage.offers.spent import Mark, SpentOffers, SpentWatch
from abacus.platform.postgres import Pool
from tests.engage.offers.taken import GAIN, NOW, desk, held, limited, releasing, wish
from tests.support.fixed_clock import FixedClock

pytestmark = pytest.mark.once

TODAY = "2026-03-02"
TWO = Bound(runs=2)


class House:
    """A process that takes an offer, and another that shows it."""

    def __init__(self, pool: Pool, offer: Offer) -> None:
        self.clock, self.index, self.elsewhere = FixedClock(NOW), OfferIndex(), OfferIndex()
        for index in (self.index, self.elsewhere):
            index.put(offer, None)
        pots, clock = pots_of_offers(pool, 1), self.clock
        self.desk = desk(pool, clock, pots=pots)
        self.spent = SpentOffers(pool, lambda: self.index, clock)
        self.other = SpentOffers(pool, lambda: self.elsewhere, clock)
        self.watch = SpentWatch(pool, pots, self.spent, index=lambda: self.index, clock=clock)
        self.pots = pots

    async def marks(self) -> frozenset[Mark]:
        """After a look at what was touched, as the other process reads them."""
        await self.spent.refresh()
        await self.watch.look(self.pots.touched())
        await self.other.refresh()
        return self.other.value()


@pytest.mark.parametrize(
    ("overall", "day", "marks"),
    [
        (TWO, UNBOUND, [Mark("lunch_20", "")]),
        (UNBOUND, TWO, [Mark("lunch_20", TODAY)]),
        (Bound(cost=2 * GAIN.saves), UNBOUND, [Mark("lunch_20", "")]),
        (Bound(runs=3), UNBOUND, []),
        (UNBOUND, UNBOUND, []),
    ],
)
async def test_it_is_marked_once_nothing_is_left(pool: Pool, overall: Bound, day: Bound, marks: Sequence[Mark]) -> None:
    offer = limited(overall=overall, day=day)
    house = House(pool, offer)
    await held(house.desk, wish(1, offer=offer))
    assert (await house.marks(), list(house.elsewhere.spent)) == (frozenset(), [])
    await held(house.desk, wish(2, offer=offer))
    assert await house.marks() == frozenset(marks)
    assert list(house.elsewhere.spent) == ([offer.number] if marks else [])


async def test_what_comes_back_is_shown_again(pool: Pool) -> None:
    offer = limited(overall=TWO)
    house = House(pool, offer)
    first = await held(house.desk, wish(1, offer=offer))
    await held(house.desk, wish(2, offer=offer))
    assert await house.marks()
    with pytest.raises(LimitReached):
        await held(house.desk, wish(3, offer=offer))
    assert await house.marks(), "somebody tried in vain"
    await house.desk.redemptions.settle(releasing(first))
    assert (await house.marks(), list(house.elsewhere.spent)) == (frozenset(), [])


async def test_the_mark_of_a_day_ends_with_it(pool: Pool) -> None:
    offer = limited(day=Bound(runs=1))
    house = House(pool, offer)
    await held(house.desk, wish(1, offer=offer))
    assert await house.marks()
    house.clock.set(NOW.replace(day=3))
    await house.other.refresh()
    assert list(house.elsewhere.spent) == []


async def test_a_new_version_with_a_higher_limit_is_shown(pool: Pool) -> None:
    offer = limited(overall=TWO)
    house = House(pool, offer)
    for key in (1, 2):
        await held(house.desk, wish(key, offer=offer))
    marks = await house.marks()
    house.index.put(limited(overall=Bound(runs=9)), None)
    await house.spent.refresh()
    await house.watch.look(house.watch.marked())
    await house.other.refresh()
    assert (len(marks), house.other.value()) == (1, frozenset())
