"""A country whose first card was published a moment ago is served at once; without the database it is not refused."""

from dataclasses import replace
from typing import Any, Final

import httpx
import pytest

from abacus.cli.examples import example_cards
from abacus.core.clock import SystemClock
from abacus.pricing.store.cards import CardStore
from tests.support.house import House
from tests.support.problems import kind
from tests.support.proxy import proxied
from tests.support.shop import GRANT, MEAL, award, register, shop

pytestmark = pytest.mark.once

LAOS: Final = replace(next(card for card in example_cards() if card.scope == "SG"), scope="LA")
GIFT: Final = {**GRANT, "country": "LA"}
DINNER: Final = {"member_id": "bob", "transaction": {**MEAL, "country": "LA"}}
DRINK: Final = {"member_id": "bob", "transaction": {**MEAL, "vertical": "drinks"}}


async def publish(house: House, **changes: Any) -> None:
    await CardStore(house.pool).publish(replace(LAOS, **changes), by="tests", now=SystemClock().now())


async def adjust(acme: httpx.AsyncClient) -> httpx.Response:
    body = {"points": 5, "reason": "Sorry", "actor": "ann", "country": "LA"}
    return await acme.post("/v1/members/bob/adjustments", json=body, headers={"Idempotency-Key": "a-1"})


@pytest.mark.long
@pytest.mark.parametrize("route", ["award", "computed", "batch", "quote", "adjustment"])
async def test_a_new_country_is_served_at_once(house: House, route: str) -> None:
    async with shop(house, "awarder") as opened:
        acme = await opened.caller(await register(house, may_adjust=True))
        await publish(house)
        match route:
            case "award":
                assert (await award(acme, "k", GIFT)).status_code == 202
            case "computed":
                assert (await award(acme, "k", DINNER)).status_code == 202
            case "quote":
                assert (await acme.post("/v1/quotes", json=DINNER)).status_code == 200
            case "adjustment":
                assert (await adjust(acme)).status_code == 201
            case _:
                awards = [{**GIFT, "idempotency_key": "1"}, {**DINNER, "idempotency_key": "2"}]
                results = (await acme.post("/v1/awards/batch", json={"awards": awards})).json()["results"]
                assert [each["outcome"] for each in results] == ["accepted", "accepted"]


async def test_a_vertical_of_a_new_card_is_priced_at_once(house: House) -> None:
    async with shop(house) as opened:
        acme = await opened.caller(await register(house))
        await publish(house, scope="SG", verticals={**LAOS.verticals, "drinks": LAOS.eppf})
        assert (await award(acme, "k", DRINK)).status_code == 202
        awards = [{**DRINK, "idempotency_key": "b"}]
        (result,) = (await acme.post("/v1/awards/batch", json={"awards": awards})).json()["results"]
        assert result["outcome"] == "accepted"


async def test_without_the_database_nobody_says_that_a_country_is_unknown(house: House) -> None:
    key = await register(house)
    async with (
        proxied(house.settings.required("database_url")) as (proxy, address),
        shop(house, settings=house.settings.model_copy(update={"database_url": address})) as opened,
    ):
        acme = await opened.caller(key)
        assert (await award(acme, "before")).status_code == 202
        await proxy.cut()
        await publish(house)
        for answer in (await award(acme, "k", GIFT), await acme.post("/v1/quotes", json=DINNER)):
            assert (answer.status_code, kind(answer)) == (503, "unavailable")
        awards = [{**GIFT, "idempotency_key": "1"}, {**GRANT, "idempotency_key": "2"}]
        results = (await acme.post("/v1/awards/batch", json={"awards": awards})).json()["results"]
        assert [each["outcome"] for each in results] == ["refused", "accepted"]
        assert results[0]["problem"]["type"] == "/problems/unavailable"
        await proxy.mend()
        assert await _accepted(acme)


async def _accepted(acme: httpx.AsyncClient) -> bool:
    for _ in range(50):
        answer = await award(acme, "k", GIFT)
        if answer.status_code == 202:
            return True
        assert (answer.status_code, kind(answer)) == (503, "unavailable")
    return False


async def test_a_country_that_nobody_published_stays_unknown(house: House) -> None:
    async with shop(house) as opened:
        acme = await opened.caller(await register(house))
        answer = await award(acme, "k", {**GRANT, "country": "XX"})
        assert (answer.status_code, kind(answer)) == (422, "unknown-country")
