"""Offers in the console: what was taken of them, beside their limits."""

from abacus.core.clock import SystemClock
from abacus.engage.offers.decide.offer import Offer
from abacus.engage.offers.decide.reservation import Redemption
from abacus.engage.offers.offer_store import OfferStore
from abacus.platform.postgres import Pool
from tests.console.campaigning import cards
from tests.console.desk import desk
from tests.engage.offers.taken import Desk, held, redeeming, releasing, rolling_back, wish
from tests.engage.offers.taken import desk as taking_desk
from tests.support.offers import document, run_offers

LIMITS = {"uses": {"overall": 10, "day": 4}, "money": {"overall": "100"}}


async def in_force(pool: Pool) -> Offer:
    await run_offers(pool, document(limits=LIMITS))
    (record,) = await OfferStore(pool).history("lunch_20")
    return record.document


async def taken(pool: Pool, offer: Offer) -> Redemption:
    """One is held, one released, one redeemed and left so, and one redeemed and rolled back in part, which is returned:
    all of 4.20 in money.
    """
    now = SystemClock().now()
    taking: Desk = taking_desk(pool, SystemClock())
    await held(taking, wish(1, "ann", offer, now))
    await taking.redemptions.settle(releasing(await held(taking, wish(2, "ann", offer, now))))
    await taking.redemptions.settle(redeeming(await held(taking, wish(3, "bob", offer, now)), offer))
    last = await taking.redemptions.settle(redeeming(await held(taking, wish(4, "bob", offer, now)), offer))
    assert last.redemption is not None
    return await taking.redemptions.roll_back(rolling_back(last.redemption, "back", 2_000_000))


async def test_what_was_taken_stands_beside_the_limits(pool: Pool) -> None:
    await taken(pool, await in_force(pool))
    async with desk(pool) as open_desk:
        await cards(open_desk)
        ann = await open_desk.inside("ann", "country_editor:SG")
        (row,) = (await ann.twin("/offers")).json()["list"]["rows"]
        assert [(each["name"], each["used"], each["left"]) for each in row["used"]] == [
            ("uses", "3", "7"),
            ("money", "10.60", "89.40"),
            ("uses today", "3", "1"),
        ]
        used = (await ann.twin("/offers/lunch_20")).json()["used"]["value"]
        assert [(each["name"], each["used"], each["reserved"]) for each in used["bars"]] == [
            ("uses", "3", "1"),
            ("money", "10.60", "4.20"),
            ("uses today", "3", "1"),
        ]
        assert [(each["what"], each["times"], each["saves"]) for each in used["lines"]] == [
            ("held", 1, 4.2),
            ("redeemed", 2, 8.4),
            ("released", 1, 4.2),
            ("rolled back", 0, 2.0),
        ]
