"""Quotes for any day: by the card that was, is or will be in force. Nothing is awarded,."""

from dataclasses import replace
from datetime import datetime
from typing import Any, Final

import httpx
import pytest

from abacus.cli.examples import example_cards
from abacus.core.clock import SystemClock
from abacus.pricing.store.cards import CardStore
from tests.support.cards import times
from tests.support.house import House
from tests.support.problems import kind
from tests.support.shop import MEAL, award, register, shop

pytestmark = pytest.mark.once

SINGAPORE: Final = next(card for card in example_cards() if card.scope == "SG")
LUNCH: Final = {name: value for name, value in MEAL.items() if name != "transaction_id"}


async def quoted(acme: httpx.AsyncClient, **changes: Any) -> httpx.Response:
    return await acme.post("/v1/quotes", json={"member_id": "bob", "transaction": LUNCH | changes})


@pytest.mark.parametrize(
    ("at", "points", "card", "scheduled", "expires_on"),
    [
        ("2026-01-01T00:00:00+08:00", 60, "SG@1", False, "2026-07-31"),
        ("2098-12-01T23:59:59+08:00", 60, "SG@1", False, "2099-06-30"),
        ("2098-12-02T12:00:00+08:00", 90, "SG@2", True, "2099-06-30"),
    ],
)
async def test_what_a_lunch_earns_on_a_day(
    house: House, at: str, points: int, card: str, expires_on: str, *, scheduled: bool
) -> None:
    december = replace(
        SINGAPORE,
        effective_from=datetime.fromisoformat("2098-12-02T00:00:00+08:00"),
        verticals={**SINGAPORE.verticals, "food": times("3")},
    )
    await CardStore(house.pool).publish(december, by="ann", now=SystemClock().now())
    async with shop(house) as opened:
        acme = await opened.caller(await register(house))
        answer = await quoted(acme, occurred_at=at)
        assert answer.status_code == 200, answer.text
        said = answer.json()
        assert (said["points"], said["card"], said["scheduled"]) == (points, card, scheduled)
        assert datetime.fromisoformat(said["quoted_for"]) == datetime.fromisoformat(at)
        assert (said["expires_on"], said["explanation"]["card"]) == (expires_on, card)
        assert await house.pool.fetchval("select count(*) from partner_award") == 0


async def test_a_quote_goes_before_no_card_and_an_award_into_no_future(house: House) -> None:
    async with shop(house) as opened:
        acme = await opened.caller(await register(house))
        early = await quoted(acme, occurred_at="2020-01-01T00:00:00Z")
        assert (early.status_code, kind(early)) == (422, "no-card-in-force")
        for facts in (LUNCH, MEAL | {"occurred_at": "2098-12-02T12:00:00+08:00"}):
            answer = await award(acme, "k", {"member_id": "bob", "transaction": facts})
            assert answer.status_code == 422, "an award names its transaction, and that has taken place"
        named = await acme.post("/v1/quotes", json={"member_id": "bob", "transaction": MEAL})
        assert (named.status_code, named.json()["points"]) == (200, 60)
        gift = {"member_id": "bob", "country": "SG", "points": 5, "reason": "Hi"}
        fixed = (await acme.post("/v1/quotes", json=gift)).json()
        assert (fixed["points"], fixed["card"], fixed["scheduled"]) == (5, "SG@1", False)


async def test_a_country_that_begins_later_is_quoted_from_then_on(house: House) -> None:
    start = datetime.fromisoformat("2098-12-01T00:00:00+08:00")
    laos = replace(SINGAPORE, scope="LA", effective_from=start)
    await CardStore(house.pool).publish(laos, by="ann", now=SystemClock().now())
    async with shop(house) as opened:
        acme = await opened.caller(await register(house))
        then = await quoted(acme, country="LA", occurred_at="2098-12-02T00:00:00+08:00")
        assert (then.status_code, then.json()["card"]) == (200, "LA@1")
        now = await quoted(acme, country="LA")
        assert (now.status_code, kind(now)) == (422, "no-card-in-force")
