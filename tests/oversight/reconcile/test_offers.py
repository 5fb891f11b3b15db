"""What was taken of offers is accounted for: rows, sums, pots and awards agree, and what is broken is named."""

import pytest

from abacus.engage.limits.types import Bound
from abacus.oversight.reconcile.offers import compared_offers
from abacus.platform import slices
from abacus.platform.postgres import Pool, snapshot
from tests.engage.offers.taken import (
    NOW,
    desk,
    held,
    limited,
    lunch,
    redeeming,
    releasing,
    rolling_back,
    wish,
)
from tests.support.fixed_clock import FixedClock

RESERVED = "offers reserved"
ROWS = "reservations of offers"
REDEEMED = "redemptions of offers"
POINTS = "points of redemptions"
SUMS = "versions of offers whose sums are not of their rows"
POTS = "limits of offers from which more was taken than is used"

# A change of rows, and the comparisons that do not come out then.
BROKEN = {
    "nothing": ("select", set()),
    "a sum": ("update offer_sum set times = times + 1 where outcome = 'reserved'", {RESERVED, ROWS, SUMS}),
    "a redemption's sum": (
        "update offer_sum set times = times - 1 where outcome = 'redeemed'",
        {RESERVED, REDEEMED, SUMS},
    ),
    "a reservation that waits again": (
        "update offer_reservation set status = 'held' where status = 'released'",
        {RESERVED, POTS, SUMS},
    ),
    "the money of a sum": ("update offer_sum set saves = saves + 1 where outcome = 'redeemed'", {SUMS}),
    "what was rolled back, by the sums": ("update offer_sum set saves = 0 where outcome = 'rolled_back'", {SUMS}),
    "what was rolled back, by the rows": (
        "update offer_redemption set saves_back = 0 where rolled_back_at is not null",
        {SUMS},
    ),
    "what a redemption costs": ("update offer_reservation set cost = 0 where status = 'redeemed'", {SUMS}),
    "a pot": ("update limit_pot set runs = 0", {POTS}),
}


@pytest.mark.parametrize("broken", BROKEN)
async def test_what_does_not_come_out_is_named(pool: Pool, broken: str) -> None:
    taking, offer = desk(pool, FixedClock(NOW)), limited(overall=Bound(runs=50), day=Bound(cost=10**9))
    tea = lunch(name="tea")
    some = [await held(taking, wish(number, f"m{number}", offer)) for number in range(6)]
    await taking.redemptions.settle(releasing(some[0]))
    redemptions = [(await taking.redemptions.settle(redeeming(of, offer))).redemption for of in some[1:4]]
    redemption = redemptions[-1]
    assert redemption is not None
    await taking.redemptions.roll_back(rolling_back(redemption, "r"))
    await held(taking, wish("tea", offer=tea))
    statement, expected = BROKEN[broken]
    for slice_ in await slices.slices_of(pool):
        async with slice_.at() as connection:
            await connection.execute(statement)
    async with snapshot(pool) as connection:
        compared = await compared_offers(connection)
    assert {each.what for each in compared if each.counted != each.other} == expected
    assert {each.what for each in compared} == {RESERVED, ROWS, REDEEMED, POINTS, POTS, SUMS}


async def test_nothing_is_compared_where_nothing_was_taken(pool: Pool) -> None:
    async with snapshot(pool) as connection:
        assert await compared_offers(connection) == []
