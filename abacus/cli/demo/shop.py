"""The demo's shop: a member looks at a dish and at a basket, takes offers at the till, and types codes.

Each answer becomes a line that a person reads.
"""

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import httpx

from abacus.cli.demo.catalogue import COUPON, FRIENDS, LUNCH, POINTS, WORD, dish
from abacus.cli.demo.counter import Counter, asked, told
from abacus.core.errors import Unavailable
from abacus.core.ids import redemption_key
from abacus.ledger.store.key_search import claims_of
from abacus.platform.postgres import Pool

_WITHIN_S: Final = 60.0
_LOOK_EVERY_S: Final = 0.05
_SHOWN: Final = "12.00"
_PAID: Final = "10.00"
_DRINK: Final[Mapping[str, Any]] = {**dish("4.00"), "id": "2", "product": "teh"}


async def look_at_a_dish(counter: Counter, member: str) -> list[str]:
    """The best offer, the next best, and why not others."""
    question = {"member_id": member, "country": "SG", "scenario": "best", "items": [dish(_SHOWN)], "explain": True}
    (item,) = told(await asked(counter.offers, "/v1/offers/qualify", question))["items"]
    return [f"{member} looks at a dish for SGD {_SHOWN}", *_shown(item)]


async def look_at_a_basket(counter: Counter, member: str) -> list[str]:
    """The offers that save most together."""
    items = [dish(_SHOWN), _DRINK]
    question = {"member_id": member, "country": "SG", "scenario": "basket", "items": items}
    answer = told(await asked(counter.offers, "/v1/offers/qualify", question))
    sure = "no other combination saves more" if answer["exact"] else "others may save more"
    return [f"{member} looks at a basket: {sure}", *map(_together, items, answer["items"])]


async def take_an_offer(counter: Counter, member: str, mark: str) -> list[str]:
    """Reserved; redeemed with a basket that has changed, which is told; and rolled back."""
    path = f"/v1/reservations/{await _reserved(counter, LUNCH, member, mark)}/redeem"
    basket = {"items": [dish(_PAID)]}
    changed = told(await asked(counter.offers, path, basket))
    was, now = changed["reserved"]["saves"], changed["now"]["saves"]
    redeemed = told(await asked(counter.offers, path, {**basket, "saves": now}))
    back = f"/v1/redemptions/{redeemed['redemption_id']}/rollback"
    rolled_back = told(await asked(counter.offers, back, key=f"{mark}-back"))
    return [
        f"{member} reserves {LUNCH}, and pays SGD {_PAID} for the dish: it saves {now} now, not {was}",
        f"  redeemed with {redeemed['saves']}, and rolled back: {rolled_back['saves_rolled_back']}",
    ]


async def take_points(counter: Counter, pool: Pool, member: str, mark: str) -> list[str]:
    """An offer in points, whose points are in the ledger when this returns."""
    path = f"/v1/reservations/{await _reserved(counter, POINTS, member, mark)}/redeem"
    redeemed = told(await asked(counter.offers, path, {"items": [dish(_SHOWN)]}))
    key, deadline = redemption_key(UUID(redeemed["redemption_id"])), time.monotonic() + _WITHIN_S
    while key not in await claims_of(pool, [key]):
        if time.monotonic() > deadline:
            raise Unavailable("the award queue", f"{key} is not posted after {_WITHIN_S:.0f} s")
        await asyncio.sleep(_LOOK_EVERY_S)
    return [f"{member} redeems {POINTS}: {redeemed['points']} points under {key}"]


async def type_the_word(counter: Counter, member: str, mark: str) -> list[str]:
    """The code that everybody may know, as a member types it."""
    typed = WORD.replace("-", " ").lower()
    held = await _reserved(counter, FRIENDS, member, mark, code=typed)
    redeemed = told(await asked(counter.offers, f"/v1/reservations/{held}/redeem", {"items": [dish(_SHOWN)]}))
    return [f'{member} types "{typed}": {FRIENDS} is redeemed, and saves {redeemed["saves"]}']


async def use_a_coupon(counter: Counter, members: Sequence[str], coupon: str, mark: str) -> list[str]:
    """A code that is used once: the first member has it, and the second comes too late."""
    first, second = members
    held = await _reserved(counter, COUPON, first, mark, code=coupon)
    redeemed = told(await asked(counter.offers, f"/v1/reservations/{held}/redeem", {"items": [dish(_SHOWN)]}))
    refused = (await _asked_for(counter, COUPON, second, f"{mark}-again", code=coupon)).json()
    return [
        f"{first} types a coupon: {COUPON} is redeemed, and saves {redeemed['saves']}",
        f"  {second} types the same one, and is refused: {refused['reason']}",
    ]


def _shown(item: Mapping[str, Any]) -> Iterator[str]:
    found = [each for each in (item["best"], *item["others"]) if each is not None]
    for word, each in zip(("the best", "the next best"), found, strict=False):
        yield f"  {word}: {each['offer']}, saves {each['saves']}, pays {each['pays']}, earns {each['points']} points"
    for each in item["refused"]:
        yield f"  not {each['offer']}: {each['needs'] or each['reason']}"


def _together(item: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    uses = [each for each in (answer["best"], *answer["others"]) if each is not None]
    saved = " and ".join(f"{each['offer']} saves {each['saves']}" for each in uses)
    pays = uses[0]["pays"] if uses else item["price"]
    return f"  {item['product']} for SGD {item['price']}: {saved or 'no offer'}; the member pays {pays}"


async def _reserved(counter: Counter, offer: str, member: str, mark: str, **more: str) -> str:
    return str(told(await _asked_for(counter, offer, member, mark, **more))["reservation_id"])


async def _asked_for(counter: Counter, offer: str, member: str, mark: str, **more: str) -> httpx.Response:
    order = {"member_id": member, "item": dish(_SHOWN), **more}
    return await asked(counter.offers, f"/v1/offers/{offer}/reservations", order, key=f"{mark}-{offer}")
