"""The worker `places` answers what is near a point, and hears of places, regions and offers as they change."""

from pathlib import Path
from typing import Any

import pytest
from prometheus_client import REGISTRY
from redis.asyncio import Redis

from tests.support.house import House, until
from tests.support.offers import PIZZA, document, run_offers
from tests.support.on_the_map import load_places, load_regions, shop_at, square
from tests.support.redis import redis_server
from tests.support.shop import offer_desk, place_desk, register

pytestmark = pytest.mark.long

NEAR = "/v1/nearby?lat=1.5&lon=103.4&radius=50000"
LOCAL = document(
    limits={"unlimited": True}, scope={"categories": ["food"], "regions": ["centre"], "except": {"places": ["tanjong"]}}
)


async def test_what_is_near_follows_what_changes(house: House) -> None:
    await load_places(house.pool, shop_at("tanjong", 103.4), shop_at("marina", 103.45))
    await load_regions(house.pool, square("centre", 103.0, 103.5))
    await run_offers(house.pool, LOCAL)
    key = await register(house, may_use_offers=True)
    async with place_desk(house) as opened:
        caller = await opened.caller(key)

        async def near(query: str = "") -> dict[str, int]:
            answer = await caller.get(NEAR + query)
            assert answer.status_code == 200, answer.text
            return {each["id"]: each["offers_in_all"] for each in answer.json()["places"]}

        assert await near() == {"tanjong": 0, "marina": 1}
        assert await near("&member_id=bob") == {"tanjong": 0, "marina": 1}
        assert (await caller.get("/v1/regions/at?lat=1.5&lon=103.4")).json() == {"regions": ["centre"]}
        version = await load_places(house.pool, shop_at("harbour", 103.49))
        assert await near(f"&at_least={version}") == {"tanjong": 0, "marina": 1, "harbour": 1}
        assert (await caller.get(f"{NEAR}&at_least={version + 1}")).status_code == 422
        await load_regions(house.pool, square("centre", 103.0, 103.47), square("east", 103.47, 104.0))
        await until(lambda: _is(near, {"tanjong": 0, "marina": 1, "harbour": 0}))
        await run_offers(house.pool, {**LOCAL, "scope": {"regions": ["centre"]}})
        await until(lambda: _is(near, {"tanjong": 1, "marina": 1, "harbour": 0}))


async def test_a_second_worker_has_what_the_first_has_counted(house: House, tmp_path: Path) -> None:
    """And counts by itself what it knows more of."""
    await load_places(house.pool, shop_at("tanjong", 103.4), shop_at("marina", 103.45))
    await load_regions(house.pool, square("centre", 103.0, 103.5))
    await run_offers(house.pool, LOCAL)
    key = await register(house, may_use_offers=True)
    here = "/v1/nearby/categories?lat=1.5&lon=103.4"
    async with redis_server(tmp_path) as url, Redis.from_url(url) as redis:
        sharing = house.settings.model_copy(update={"caches_redis_url": url})

        async def counted(at_least: int = 0) -> tuple[int, bool]:
            """Places with food, by a worker that has just begun, and whether another one had counted them."""
            before = _found_there()
            async with place_desk(house, sharing) as opened:
                caller = await opened.caller(key)
                answer = await caller.get(f"{here}&at_least={at_least}")
                assert answer.status_code == 200, answer.text
                places = {each["category"]: each["places"] for each in answer.json()["categories"]}
                await until(written)  # behind the answer
                return places["food"], _found_there() > before

        async def written() -> bool:
            return len(await redis.keys("*answer:nearby.categories:*")) == answers

        answers = 1
        assert [await counted() for _ in range(2)] == [(1, False), (1, True)]
        answers, version = 2, await load_places(house.pool, shop_at("harbour", 103.49))
        assert [await counted(version) for _ in range(2)] == [(2, False), (2, True)]


def _found_there() -> float:
    labels = {"route": "nearby.categories", "outcome": "shared"}
    return REGISTRY.get_sample_value("abacus_cache_answers_total", labels) or 0.0


async def test_an_offer_of_a_region_is_for_items_that_are_bought_there(house: House) -> None:
    await load_places(house.pool, shop_at("tanjong", 103.4), shop_at("marina", 103.45), shop_at("harbour", 103.6))
    await load_regions(house.pool, square("centre", 103.0, 103.5))
    await run_offers(house.pool, LOCAL)
    key = await register(house, may_use_offers=True, may_explain_offers=True)
    bare: dict[str, Any] = {name: PIZZA[name] for name in ("product", "price", "currency")}
    items = [{"id": place, "place": place, **bare} for place in ("tanjong", "marina", "harbour")]
    async with offer_desk(house) as opened:
        caller = await opened.caller(key)
        asked = {"country": "SG", "scenario": "best", "items": [*items, {**PIZZA, "id": "4"}]}
        answer = await caller.post("/v1/offers/qualify", json={**asked, "explain": True})
        assert [each["best"] is not None for each in answer.json()["items"]] == [False, True, False, False]
        (near_miss,) = answer.json()["items"][0]["refused"]
        assert (near_miss["reason"], near_miss["needs"]) == ("scope", "not for place tanjong")
        verdict = await caller.post(
            "/v1/offers/validate", json={"country": "SG", "items": [items[2]], "offers": ["lunch_20"]}
        )
        assert verdict.json()["offers"][0]["refused"]["needs"] == "only for region centre"
        order = {"member_id": "bob", "item": items[1]}
        held = await caller.post("/v1/offers/lunch_20/reservations", json=order, headers={"Idempotency-Key": "1"})
        assert (held.status_code, held.json()["saves"]) == (201, "2.40")
        redeemed = await caller.post(
            f"/v1/reservations/{held.json()['reservation_id']}/redeem", json={"items": [items[1]]}
        )
        assert (redeemed.status_code, redeemed.json()["saves"]) == (201, "2.40")
        lost = await caller.post("/v1/offers/qualify", json={**asked, "items": [{**items[0], "place": "lost"}]})
        assert lost.json()["errors"] == [{"pointer": "/items/0/place", "detail": "there is no such place"}]


async def _is(near: Any, expected: dict[str, int]) -> bool:
    return bool(await near() == expected)
