"""The demo's shop: a member looks at a dish, takes its offer at the till, and buys a coffee for points.

Each answer becomes a line that a person reads.
"""

import asyncio
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final
from uuid import UUID

import httpx

from abacus.cli.demo.catalogue import COFFEE, LUNCH, POINTS, dish
from abacus.cli.demo.counter import Counter, asked
from abacus.core.errors import Refused, Unavailable
from abacus.core.ids import redemption_key
from abacus.ledger.store.key_search import claims_of
from abacus.platform.postgres import Pool

_WITHIN_S: Final = 60.0
_LOOK_EVERY_S: Final = 0.05
_SHOWN: Final = "12.00"
_PAID: Final = "10.00"


async def look_at_a_dish(counter: Counter, member: str) -> list[str]:
    """The best offer, the next best, and why not others."""
    question = {"member_id": member, "country": "SG", "scenario": "best", "items": [dish(_SHOWN)], "explain": True}
    (item,) = _read(await asked(counter.offers, "/v1/offers/qualify", question))["items"]
    return [f"{member} looks at a dish for SGD {_SHOWN}", *_shown(item)]


async def take_an_offer(counter: Counter, member: str, mark: str) -> list[str]:
    """Reserved; redeemed with a basket that has changed, which is told; and rolled back."""
    path = f"/v1/reservations/{await _reserved(counter, LUNCH, member, mark)}/redeem"
    basket = {"items": [dish(_PAID)]}
    changed = _read(await asked(counter.offers, path, basket))
    was, now = changed["reserved"]["saves"], changed["now"]["saves"]
    redeemed = _read(await asked(counter.offers, path, {**basket, "saves": now}))
    back = f"/v1/redemptions/{redeemed['redemption_id']}/rollback"
    rolled_back = _read(await asked(counter.offers, back, key=f"{mark}-back"))
    return [
        f"{member} reserves {LUNCH}, and pays SGD {_PAID} for the dish: it saves {now} now, not {was}",
        f"  redeemed with {redeemed['saves']}, and rolled back: {rolled_back['saves_rolled_back']}",
    ]


async def take_points(counter: Counter, pool: Pool, member: str, mark: str) -> list[str]:
    """An offer in points, whose points are in the ledger when this returns."""
    path = f"/v1/reservations/{await _reserved(counter, POINTS, member, mark)}/redeem"
    redeemed = _read(await asked(counter.offers, path, {"items": [dish(_SHOWN)]}))
    key, deadline = redemption_key(UUID(redeemed["redemption_id"])), time.monotonic() + _WITHIN_S
    while key not in await claims_of(pool, [key]):
        if time.monotonic() > deadline:
            raise Unavailable("the award queue", f"{key} is not posted after {_WITHIN_S:.0f} s")
        await asyncio.sleep(_LOOK_EVERY_S)
    return [f"{member} redeems {POINTS}: {redeemed['points']} points under {key}"]


async def buy_coffees(counter: Counter, member: str, mark: str) -> list[str]:
    """The member keeps the first, and returns the second."""
    path = f"/v1/members/{member}/redemptions"
    first = await _bought(counter, path, f"{mark}-coffee")
    if "code" not in first:  # in a house where it has bought many
        return [f"{member} asks for a coffee: {first['title']}"]
    second = await _bought(counter, path, f"{mark}-another")
    lines = [f"{member} buys a coffee for {first['points']} points: {first['code']}, {await _left(counter, member)}"]
    if "code" in second:
        _read(await asked(counter.api, f"{path}/{second['redemption_id']}/return"))
        lines.append(f"  another one is returned: {await _left(counter, member)}, as before")
    return lines


def _shown(item: Mapping[str, Any]) -> Iterator[str]:
    found = [each for each in (item["best"], *item["others"]) if each is not None]
    for word, each in zip(("the best", "the next best"), found, strict=False):
        yield f"  {word}: {each['offer']}, saves {each['saves']}, pays {each['pays']}, earns {each['points']} points"
    for each in item["refused"]:
        yield f"  not {each['offer']}: {each['needs'] or each['reason']}"


async def _reserved(counter: Counter, offer: str, member: str, mark: str) -> str:
    order = {"member_id": member, "item": dish(_SHOWN)}
    answer = await asked(counter.offers, f"/v1/offers/{offer}/reservations", order, key=f"{mark}-{offer}")
    return str(_read(answer)["reservation_id"])


async def _bought(counter: Counter, path: str, key: str) -> dict[str, Any]:
    bought: dict[str, Any] = (await asked(counter.api, path, {"reward": COFFEE}, key=key)).json()
    return bought


async def _left(counter: Counter, member: str) -> str:
    answer = _read(await counter.api.get(f"/v1/members/{member}"))
    (account,) = answer["accounts"]
    return f"{account['available']} points are left, good until {account['expires_on']}"


def _read(answer: httpx.Response) -> dict[str, Any]:
    """Raises `Refused` for what should not be refused."""
    document: dict[str, Any] = answer.json()
    if answer.is_error and "now" not in document:
        raise Refused(f"{answer.request.url.path}: {answer.status_code}, {document.get('detail', '')}")
    return document
