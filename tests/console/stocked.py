"""An offer and a reward in force, and what a member took of both."""

from typing import Final

from abacus.engage.offers.desk import OfferDesk
from tests.console.desk import Desk
from tests.engage.offers.taken import desk as taking_desk
from tests.engage.offers.taken import held, redeeming, wish
from tests.support.offers import LUNCH, run_offers
from tests.support.rewards import Counter, give_points, load_codes, reward, run_reward

BRUNCH: Final = "brunch"
_LIMITS: Final = {"uses": {"overall": 4, "member": 3}, "money": {"overall": "40.00"}}
_TEA: Final = {
    "name": "tea",
    "texts": {"en": {"title": "A tea"}},
    "price": {"points": 100},
    "delivery": {"pool": "coffee_codes"},
}


async def stock(open_desk: Desk) -> None:
    """Two uses of the offer are redeemed and one is held; the reward is redeemed once."""
    pool = open_desk.pool
    await run_offers(pool, {**LUNCH, "name": BRUNCH, "limits": _LIMITS})
    offer, now = (await open_desk.rooms[OfferDesk].version(BRUNCH)).document, open_desk.clock.now()
    taking = taking_desk(pool, open_desk.clock)
    reserved = [await held(taking, wish(number, "bob", offer, now)) for number in range(3)]
    for each in reserved[1:]:
        await taking.redemptions.settle(redeeming(each, offer))
    await load_codes(pool, ["KOPI-1", "KOPI-2"])
    await run_reward(pool, **_TEA)
    await give_points(pool, ["bob"], 1_200)
    await Counter(pool, [reward(**_TEA)]).redeem("1", name="tea")
