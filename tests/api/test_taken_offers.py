"""Offers are taken over HTTP: held, redeemed with the basket that is paid, released and rolled back."""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import httpx
import pytest
from prometheus_client import REGISTRY

from tests.api.test_asked_offers import EVERYTHING, PIZZA, other
from tests.support.house import House, until
from tests.support.offers import run_offers
from tests.support.problems import kind
from tests.support.proxy import proxied
from tests.support.shop import Shop, offer_desk, register

pytestmark = pytest.mark.once

OFFERS = [
    other("tenth", benefit={"percent": "10"}, scope=EVERYTHING, stack="always"),
    other("bonus", benefit={"points_plus": 50}, scope=EVERYTHING, stack="always"),
    other("alone", benefit={"amount_off": "1"}, scope=EVERYTHING),
    other("once", benefit={"amount_off": "1"}, scope=EVERYTHING, limits={"uses": {"overall": 1}}),
    other("dear", benefit={"amount_off": "1"}, scope=EVERYTHING, price={"from": "100"}),
]


@dataclass(frozen=True)
class Desk:
    """Offers of Singapore, and two partners that may take them."""

    house: House
    shop: Shop
    acme: httpx.AsyncClient
    mart: httpx.AsyncClient

    async def reserve(self, offer: str, key: str = "1", **changes: Any) -> httpx.Response:
        body = {"member_id": "bob", "item": PIZZA, **changes}
        return await self.acme.post(f"/v1/offers/{offer}/reservations", json=body, headers={"Idempotency-Key": key})

    async def held(self, offer: str, key: str = "1") -> str:
        answer = await self.reserve(offer, key)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["reservation_id"])

    async def redeem(self, id_: str, price: str = "12.00", **named: Any) -> httpx.Response:
        body = {"items": [{**PIZZA, "price": price}], **named}
        return await self.acme.post(f"/v1/reservations/{id_}/redeem", json=body)


@pytest.fixture
async def desk(house: House) -> AsyncIterator[Desk]:
    await run_offers(house.pool, *OFFERS)
    keys = [await register(house, name, may_use_offers=True) for name in ("acme", "mart")]
    async with offer_desk(house) as shop:
        yield Desk(house, shop, *[await shop.caller(key) for key in keys])


def counted() -> Counter[str]:
    """What came of requests in this process, and why some came to nothing."""
    names = {"abacus_offers_taken_total": "outcome", "abacus_offers_refused_total": "reason"}
    samples = [sample for family in REGISTRY.collect() for sample in family.samples if sample.name in names]
    return Counter({sample.labels[names[sample.name]]: int(sample.value) for sample in samples})


async def test_an_offer_is_held_redeemed_and_rolled_back(desk: Desk) -> None:
    before = counted()
    answer = await desk.reserve("tenth")
    told = answer.json()
    assert (answer.status_code, told["saves"], told["points"], told["status"]) == (201, "1.20", 0, "held")
    again = await desk.reserve("tenth")
    assert (again.json(), again.headers["idempotency-replayed"]) == (told, "true")
    assert kind(await desk.reserve("tenth", member_id="ann")) == "idempotency-key-reused"
    changed = await desk.redeem(told["reservation_id"], "20.00")
    assert kind(changed) == "offer-changed"
    assert changed.json()["reserved"] == {"saves": "1.20", "points": 0}
    assert changed.json()["now"] == {"saves": "2.00", "points": 0}
    redeemed = await desk.redeem(told["reservation_id"], "20.00", saves="2.00")
    assert (redeemed.status_code, redeemed.json()["saves"]) == (201, "2.00")
    repeated = await desk.redeem(told["reservation_id"], "20.00")
    assert (repeated.json(), repeated.headers["idempotency-replayed"]) == (redeemed.json(), "true")
    assert kind(await desk.acme.post(f"/v1/reservations/{told['reservation_id']}/release")) == "reservation-ended"
    path = f"/v1/redemptions/{redeemed.json()['redemption_id']}/rollback"
    for key, body, back in (("a", {"saves": "0.50"}, "0.50"), ("a", {"saves": "0.50"}, "0.50"), ("b", None, "2.00")):
        rolled = await desk.acme.post(path, json=body, headers={"Idempotency-Key": key})
        assert (rolled.status_code, rolled.json()["saves_rolled_back"]) == (200, back)
    more = await desk.acme.post(path, json={"saves": "0.01"}, headers={"Idempotency-Key": "c"})
    assert kind(more) == "rollback-too-large"
    once = ("reserved", "redeemed", "other_facts", "changed", "ended", "too_much")
    assert counted() - before == Counter({**dict.fromkeys(once, 1), "rolled_back": 2})


async def test_what_is_released_is_there_for_the_next(desk: Desk) -> None:
    id_ = await desk.held("once")
    full = await desk.reserve("once", "2")
    assert kind(full) in {"offer-limit-reached", "offer-refused"}
    for _ in range(2):
        released = await desk.acme.post(f"/v1/reservations/{id_}/release")
        assert (released.status_code, released.json()["status"]) == (200, "released")
    assert kind(await desk.redeem(id_)) == "reservation-ended"

    async def is_held() -> bool:
        return (await desk.reserve("once", "3")).status_code == 201

    await until(is_held, within_s=5)


async def test_several_are_held_together_or_none_is(desk: Desk) -> None:
    async def several(key: str, *offers: str) -> httpx.Response:
        body = {"member_id": "bob", "items": [PIZZA], "offers": offers}
        return await desk.acme.post("/v1/offer-reservations", json=body, headers={"Idempotency-Key": key})

    both = await several("1", "tenth", "bonus")
    assert [(each["saves"], each["points"]) for each in both.json()["reservations"]] == [("1.20", 0), ("0.00", 50)]
    assert (await several("1", "tenth", "bonus")).json() == both.json()
    refused = await several("2", "tenth", "alone")
    assert (kind(refused), refused.json()["reason"]) == ("offer-refused", "stacking")
    assert await desk.house.pool.fetchval("select count(*) from offer_reservation") == 2


REFUSED: Sequence[tuple[str, Any, str]] = [
    ("offers/nothing/reservations", {"member_id": "bob", "item": PIZZA}, "not-found"),
    ("offers/dear/reservations", {"member_id": "bob", "item": PIZZA}, "offer-refused"),
    ("offers/tenth/reservations", {"member_id": "bob", "item": {**PIZZA, "currency": "IDR"}}, "unknown-currency"),
    ("offers/tenth/reservations", {"member_id": "bob", "item": {**PIZZA, "price": "-1"}}, "invalid"),
    ("offers/tenth/reservations", {"item": PIZZA}, "invalid"),
    ("offer-reservations", {"member_id": "bob", "items": [PIZZA], "offers": []}, "invalid"),
    ("reservations/03c0e7f0-a3b8-8a44-8f2b-6b9f6d1f2a33/redeem", {"items": [PIZZA]}, "not-found"),
    ("reservations/fff0e7f0-a3b8-8a44-8f2b-6b9f6d1f2a33/release", None, "not-found"),
    ("reservations/1/release", None, "invalid"),
    ("redemptions/00c0e7f0-a3b8-8a44-8f2b-6b9f6d1f2a33/rollback", None, "not-found"),
]


async def test_what_is_refused(desk: Desk) -> None:
    for path, body, expected in REFUSED:
        answer = await desk.acme.post(f"/v1/{path}", json=body, headers={"Idempotency-Key": "1"})
        assert (path, body, kind(answer)) == (path, body, expected)
    assert await desk.house.pool.fetchval("select count(*) from offer_reservation") == 0


RESERVATION = "00c0e7f0-a3b8-8a44-8f2b-6b9f6d1f2a33"
USD = {**PIZZA, "currency": "USD"}
CENTS = {**PIZZA, "price": "1.005"}


WRONG: Sequence[tuple[str, Any, str, str]] = [
    ("offers/tenth/reservations", {"member_id": "bob", "item": USD}, "unknown-currency", "/item/currency"),
    ("offers/tenth/reservations", {"member_id": "bob", "item": CENTS}, "invalid", "/item/price"),
    ("offers/tenth/reservations", {"member_id": "bob", "item": {**PIZZA, "price": "-1"}}, "invalid", "/item/price"),
    ("offers/tenth/reservations", {"member_id": "vy", "item": PIZZA}, "other-country", "/member_id"),
    ("offer-reservations", {"member_id": "bob", "items": [PIZZA] * 51, "offers": ["tenth"]}, "invalid", "/items"),
    (
        "offer-reservations",
        {"member_id": "bob", "items": [PIZZA, USD], "offers": ["tenth"]},
        "unknown-currency",
        "/items/1/currency",
    ),
    ("offer-reservations", {"member_id": "bob", "items": [PIZZA], "offers": ["tenth"] * 21}, "invalid", "/offers"),
    (
        "offer-reservations",
        {"member_id": "vy", "items": [PIZZA], "offers": ["tenth"]},
        "other-country",
        "/member_id",
    ),
    (f"reservations/{RESERVATION}/redeem", {"items": [PIZZA] * 51}, "invalid", "/items"),
    (f"reservations/{RESERVATION}/redeem", {"items": []}, "invalid", "/items"),
    (f"reservations/{RESERVATION}/redeem", {"items": [PIZZA], "saves": "-1"}, "invalid", "/saves"),
    (f"redemptions/{RESERVATION}/rollback", {"saves": "-1"}, "invalid", "/saves"),
]


async def test_what_is_wrong_has_its_pointer(desk: Desk) -> None:
    """And nothing is held."""
    account = "insert into account (member_id, program, country, balance) values ('vy', 'GRP', 'VN', 0)"
    await desk.house.pool.execute(account)
    for path, body, problem, pointer in WRONG:
        answer = await desk.acme.post(f"/v1/{path}", json=body, headers={"Idempotency-Key": "1"})
        told = answer.status_code, kind(answer), [each["pointer"] for each in answer.json()["errors"]]
        assert told == (422, problem, [pointer]), (path, body)
    assert await desk.house.pool.fetchval("select count(*) from offer_reservation") == 0


async def test_another_currency_is_no_basket_of_the_reservation(desk: Desk) -> None:
    id_ = await desk.held("tenth")
    answer = await desk.acme.post(f"/v1/reservations/{id_}/redeem", json={"items": [PIZZA, USD]})
    assert (kind(answer), answer.json()["errors"][0]["pointer"]) == ("unknown-currency", "/items/1/currency")


@pytest.mark.long
async def test_without_the_database_nothing_is_held(house: House) -> None:
    await run_offers(house.pool, *OFFERS)
    key = await register(house, may_use_offers=True)
    async with (
        proxied(house.settings.required("database_url")) as (proxy, address),
        offer_desk(house, house.settings.model_copy(update={"database_url": address})) as shop,
    ):
        acme = await shop.caller(key)
        desk = Desk(house, shop, acme, acme)
        id_ = await desk.held("tenth", "before")
        await proxy.cut()
        for answer in (await desk.reserve("tenth", "1"), await desk.redeem(id_)):
            assert (answer.status_code, kind(answer)) == (503, "unavailable")
        await proxy.mend()
        assert await house.pool.fetchval("select count(*) from offer_reservation") == 1

        async def is_held() -> bool:
            return (await desk.reserve("tenth", "1")).status_code == 201

        await until(is_held)
        assert (await desk.redeem(id_)).status_code == 201


async def test_a_reservation_is_of_its_partner(desk: Desk) -> None:
    id_ = await desk.held("tenth")
    assert kind(await desk.mart.post(f"/v1/reservations/{id_}/release")) == "not-found"
    nobody = await desk.shop.caller(await register(desk.house, "nobody"))
    assert kind(await nobody.post(f"/v1/reservations/{id_}/release")) == "offers-not-allowed"
    without_key = await desk.acme.post("/v1/offers/tenth/reservations", json={"member_id": "bob", "item": PIZZA})
    assert kind(without_key) == "idempotency-key-missing"


@pytest.mark.long
async def test_points_come_and_go_with_the_redemption(house: House) -> None:
    """By the award queue, under the key of the redemption; what waits is never awarded."""
    await run_offers(house.pool, *OFFERS)
    key = await register(house, may_use_offers=True)
    async with offer_desk(house, None, "campaigner", "awarder") as shop:
        acme = await shop.caller(key)
        desk = Desk(house, shop, acme, acme)
        item = {**PIZZA, "var": {"vertical": "food", "payment_type": "wallet"}}
        answer = await desk.reserve("bonus", item=item)
        body = {"items": [item]}
        redeemed = await acme.post(f"/v1/reservations/{answer.json()['reservation_id']}/redeem", json=body)
        assert redeemed.json()["points"] == 50, redeemed.text
        id_ = redeemed.json()["redemption_id"]

        async def posted(points: int) -> bool:
            total = "select coalesce(sum(points), 0) from transfer where member_id = 'bob'"
            return int(await house.pool.fetchval(total)) == points

        await until(partial(posted, 50))
        row = await house.pool.fetchrow("select key, source from transfer")
        assert tuple(row) == (f"redemption:{id_}", "offer:bonus")
        rolled = await acme.post(f"/v1/redemptions/{id_}/rollback", headers={"Idempotency-Key": "r"})
        assert rolled.json()["points_rolled_back"] == 50
        await house.pool.execute("update action set due_at = now() where number = 1")
        await until(partial(posted, 0))
