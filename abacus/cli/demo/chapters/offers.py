"""Offers of a kitchen, asked for and taken by acme's members each week of late; one is nearly gone, and one waits."""

import asyncio
from datetime import date, timedelta
from typing import Any, Final

from abacus.cli.demo.catalogue import COUNTRY, FRIENDS, INVITED, LUNCH, OFFERS, POINTS, WORD, dish
from abacus.cli.demo.chapters.partner import ACME
from abacus.cli.demo.counter import Counter, asked, at_the_counter
from abacus.cli.demo.shelves import Shelves
from abacus.cli.demo.story.chapter import Chapter, Look
from abacus.cli.demo.story.house import House
from abacus.engage.categories.decide.tree import parse_categories
from abacus.engage.categories.kind import category_desk

_CATEGORIES: Final = {
    "country": COUNTRY,
    "categories": {"food": {"noodles": [], "pizza": ["deep-dish", "thin-crust"]}, "rides": {"taxi": []}},
}
_DRINK: Final = "demo_drink"
_COME_ON: Final = 2  # the weekday
_SINCE: Final = timedelta(days=56)
_GUESTS: Final = 12
_TO_COME: Final = {
    **OFFERS[0],
    "name": "demo_feast",
    "about": "A third off, at most 15",
    "benefit": {"percent": "33", "cap": "15"},
}


class Offers(Chapter):
    """Cleo publishes them, and dora approves them."""

    looks = (Look("cleo", "/offers", "offers with their limits: one is nearly gone, and one waits for its approval"),)

    async def begin(self) -> None:
        desk = category_desk(self.house.pool, self.house.clock)
        await desk.publish(await desk.differences([parse_categories(_CATEGORIES)]), self.house.people["cleo"])
        shelves = shelves_of(self.house)
        await shelves.fill_with_offers()
        await shelves.invite([f"sg-{1001 + number}" for number in range(_GUESTS)])

    async def day(self, day: date) -> None:
        if day.weekday() == _COME_ON and self.house.today - day < _SINCE:
            async with at_the_counter(self.house.settings, self.house.keys[ACME]) as counter:
                await asyncio.gather(*(self._guest(counter, day, number) for number in range(_GUESTS)))

    async def end(self) -> None:
        await shelves_of(self.house).propose(_TO_COME)

    async def _guest(self, counter: Counter, day: date, number: int) -> None:
        member, line = f"sg-{1001 + number}", dish(f"{self.house.rng.randint(9, 34)}.50")
        question = {"member_id": member, "country": COUNTRY, "scenario": "best", "items": [line]}
        await asked(counter.offers, "/v1/offers/qualify", question)
        offer = (LUNCH, _DRINK, INVITED, POINTS, FRIENDS)[number % 5]
        order = {"member_id": member, "item": line, **({"code": WORD} if offer == FRIENDS else {})}
        held = await asked(counter.offers, f"/v1/offers/{offer}/reservations", order, key=f"{day}-{member}")
        if not held.is_success:
            return
        path = f"/v1/reservations/{held.json()['reservation_id']}"
        if number == 0:
            await asked(counter.offers, f"{path}/release")
            return
        redeemed: Any = (await asked(counter.offers, f"{path}/redeem", {"items": [line]})).json()
        if number == 1:
            back = f"/v1/redemptions/{redeemed['redemption_id']}/rollback"
            await asked(counter.offers, back, key=f"{day}-{member}-back")


def shelves_of(house: House) -> Shelves:
    return Shelves(house.pool, house.clock, house.moves.approvals, house.people["cleo"], house.people["dora"])
