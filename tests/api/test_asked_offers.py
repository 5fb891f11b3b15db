"""Asking for offers over HTTP: what is answered, who may ask, how soon a change holds, and without the database."""

import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from abacus.core.clock import SystemClock
from abacus.documents.decide.states import Act
from abacus.documents.stated import Change
from abacus.engage.offers.offer_store import OfferStore
from abacus.intake.partners.decide.partner import TEST_KEY
from tests.support.house import House, until
from tests.support.offers import document, run_offers
from tests.support.problems import kind
from tests.support.proxy import proxied
from tests.support.shop import Shop, offer_desk, register
from tests.support.staff import hire

pytestmark = pytest.mark.once

PIZZA: dict[str, Any] = {
    "id": "1",
    "product": "margherita",
    "merchant": "m1",
    "brand": "b1",
    "categories": ["food", "pizza", "thin"],
    "price": "12.00",
    "currency": "SGD",
}
RIDE = {**PIZZA, "id": "2", "product": "ride", "categories": ["rides"], "price": "20.00"}
LUNCH = document(limits={"unlimited": True})
EVERYTHING = {"everything": True}
GOLD_ONLY = {"lhs": "member.tier", "operator": "in", "rhs": ["gold", "platinum"]}
OF_CITY = {"lhs": "var.city", "operator": "eq", "rhs": "sg"}
MERCHANT = {"merchants": ["m1"]}
ONCE = {"uses": {"member": 1}}
_USED = """
insert into offer_reservation (key, member_id, reservation_id, offer, version, country, caller, fingerprint, items,
    currency, saves, points, cost, day, pots, reserved_at, until, status)
values ('k', $1, gen_random_uuid(), 'once', 1, 'SG', 'partner:acme', '', '[]', 'SGD', 9000000, 0, 9000000,
    current_date, 0, now(), now(), 'redeemed')
"""


def other(name: str, **changes: Any) -> dict[str, Any]:
    return document(**{"name": name, "limits": {"unlimited": True}, **changes})


OFFERS = [
    LUNCH,  # 20 %, at most 5.00, of food but for noodles
    other("flat_3", benefit={"amount_off": "3"}, scope=EVERYTHING, price={"from": "15"}, stack="always"),
    other("gold_half", benefit={"percent": "50"}, scope=MERCHANT, when=GOLD_ONLY),
    other("invited_6", audience="invitation", benefit={"amount_off": "6"}, scope=EVERYTHING),
    other("by_code", audience="code", code="TEN-OFF", benefit={"percent": "10"}, scope=MERCHANT, stack="always"),
    other("in_city", benefit={"amount_off": "0.50"}, scope=EVERYTHING, when=OF_CITY, stack="always"),
    other("points_2", benefit={"points_times": "2"}, scope={"categories": ["rides"]}),
]


@dataclass(frozen=True)
class Desk:
    """Offers of Singapore, and a partner that may ask for them and have them explained."""

    house: House
    shop: Shop
    acme: httpx.AsyncClient

    async def ask(self, *items: dict[str, Any], **changes: Any) -> dict[str, Any]:
        body = {"country": "SG", "scenario": "best", "items": items, **changes}
        answer = await self.acme.post("/v1/offers/qualify", json=body)
        assert answer.status_code == 200, answer.text
        told: dict[str, Any] = answer.json()
        return told

    async def best(self, *items: dict[str, Any], **changes: Any) -> list[str | None]:
        told = await self.ask(*items, **changes)
        return [each["best"] and each["best"]["offer"] for each in told["items"]]


async def enter(house: House, member_id: str, country: str, tier: str = "member", *invited: int) -> None:
    account = "insert into account (member_id, program, country, balance) values ($1, $2, $3, 0)"
    await house.pool.execute(account, member_id, "GRP", country)
    if tier != "member":
        membership = (
            "insert into membership (member_id, program, tier, reason, actor, set_at)"
            " values ($1, $2, $3, '', 'tests', now())"
        )
        await house.pool.execute(membership, member_id, "GRP", tier)
    if invited:
        row = "insert into offer_invitation (member_id, offers) values ($1, $2)"
        await house.pool.execute(row, member_id, list(invited))


@pytest.fixture
async def desk(house: House) -> AsyncIterator[Desk]:
    await run_offers(house.pool, *OFFERS)
    numbers = await OfferStore(house.pool).numbers(["invited_6"])
    await enter(house, "bob", "SG")
    await enter(house, "gina", "SG", "gold")
    await enter(house, "ivy", "SG", "member", numbers["invited_6"])
    await enter(house, "vy", "VN")
    key = await register(house, may_use_offers=True, may_explain_offers=True)
    async with offer_desk(house) as opened:
        yield Desk(house, opened, await opened.caller(key))


async def test_the_best_offer_of_each_item(desk: Desk) -> None:
    told = await desk.ask(PIZZA, RIDE, member_id="bob")
    assert told.pop("as_of") <= SystemClock().now().isoformat().replace("+00:00", "Z")
    points = {"offer": "points_2", "version": 1, "saves": "0.00", "pays": "20.00", "points": 40}
    assert told == {
        "items": [
            {
                "id": "1",
                "price": "12.00",
                "best": {
                    "offer": "lunch_20",
                    "version": 1,
                    "saves": "2.40",
                    "pays": "9.60",
                    "until": "2036-11-30T16:00:00Z",
                    "points": 19,
                },
                "others": [],
            },
            {
                "id": "2",
                "price": "20.00",
                "best": {
                    "offer": "flat_3",
                    "version": 1,
                    "saves": "3.00",
                    "pays": "17.00",
                    "until": "2036-11-30T16:00:00Z",
                    "points": 17,
                },
                "others": [{**points, "until": "2036-11-30T16:00:00Z"}],
            },
        ],
        "degraded": False,
        "reserved": False,
    }
    assert "as_of" not in await desk.ask(PIZZA), "nobody is read"


# A member, an item, and its best offer.
WHO_GETS_WHAT: Sequence[tuple[str | None, dict[str, Any], str | None]] = [
    (None, PIZZA, "lunch_20"),
    ("bob", PIZZA, "lunch_20"),
    ("nobody-yet", PIZZA, "lunch_20"),
    ("gina", PIZZA, "gold_half"),
    ("ivy", PIZZA, "invited_6"),
    (None, {**PIZZA, "categories": ["food", "noodles"]}, None),
    (None, {**PIZZA, "categories": [], "var": {"city": "sg"}}, "in_city"),
    (None, {**PIZZA, "categories": [], "var": {"city": "kl"}}, None),
    (None, {**PIZZA, "price": "30.00"}, "lunch_20"),
    (None, {**PIZZA, "price": "7.50", "quantity": 4}, "lunch_20"),
    (None, {**PIZZA, "price": "0.00"}, None),
]


async def test_who_gets_what(desk: Desk) -> None:
    for member_id, item, best in WHO_GETS_WHAT:
        asked = {"member_id": member_id} if member_id else {}
        assert (member_id, item, await desk.best(item, **asked)) == (member_id, item, [best])


async def test_fifty_items_are_answered_in_their_order(desk: Desk) -> None:
    items = [{**(PIZZA if place % 2 else RIDE), "id": str(place)} for place in range(50)]
    told = await desk.ask(*items, member_id="bob", scenario="all")
    assert [each["id"] for each in told["items"]] == [str(place) for place in range(50)]
    assert [each["best"]["offer"] for each in told["items"]] == ["flat_3", "lunch_20"] * 25


async def test_a_basket_has_the_offers_that_save_most_together(desk: Desk) -> None:
    in_city = {**PIZZA, "price": "16.00", "var": {"city": "sg"}}
    told = await desk.ask(in_city, RIDE, scenario="basket")
    assert told["exact"] is True
    of_pizza, of_ride = told["items"]
    assert [(each["offer"], each["pays"]) for each in (of_pizza["best"], *of_pizza["others"])] == [
        ("flat_3", "12.50"),
        ("in_city", "12.50"),
    ]
    assert (of_ride["best"]["offer"], of_ride["best"]["pays"]) == ("flat_3", "17.00")


async def test_what_came_close_is_explained(desk: Desk) -> None:
    (item,) = (await desk.ask(PIZZA, member_id="bob", explain=True))["items"]
    needs = {each["offer"]: (each["reason"], each["needs"]) for each in item["refused"]}
    assert needs == {
        "flat_3": ("price", "a price of SGD 15.00 or more"),
        "gold_half": ("tier", "gold or platinum members only"),
        "in_city": ("rule", "var.city is sg"),
        "invited_6": ("admission", "an invitation"),
        "by_code": ("admission", "a code"),
    }


async def test_an_offer_that_a_member_has_used_up_is_not_shown(desk: Desk) -> None:
    await run_offers(desk.house.pool, other("once", benefit={"amount_off": "9"}, scope=MERCHANT, limits=ONCE))
    await desk.house.pool.execute(_USED, "uma")

    async def bob_gets_it() -> bool:
        return await desk.best(PIZZA, member_id="bob") == ["once"]

    await until(bob_gets_it, within_s=5)
    (item,) = (await desk.ask(PIZZA, member_id="uma", explain=True))["items"]
    assert item["best"]["offer"] == "lunch_20"
    assert [each for each in item["refused"] if each["offer"] == "once"] == [
        {"offer": "once", "reason": "used", "needs": "the member's limit is reached"}
    ]


async def test_named_offers_are_validated(desk: Desk) -> None:
    body = {
        "country": "SG",
        "member_id": "bob",
        "items": [PIZZA, RIDE],
        "offers": ["lunch_20", "gold_half", "flat_3", "no_such"],
        "codes": ["TEN-OFF", "SUMMER"],
    }
    answer = await desk.acme.post("/v1/offers/validate", json=body)
    assert answer.status_code == 200, answer.text
    lunch, gold, flat, unknown, code, no_code = answer.json()["offers"]
    assert (lunch["saves"], [each["id"] for each in lunch["items"]]) == ("2.40", ["1"])
    assert lunch["items"][0] == {"id": "1", "saves": "2.40", "pays": "9.60", "points": 19}
    assert (flat["saves"], [each["id"] for each in flat["items"]]) == ("3.00", ["2"])
    assert gold["refused"] == {"offer": "gold_half", "reason": "tier", "needs": "gold or platinum members only"}
    assert unknown == {"offer": "no_such", "refused": {"offer": "no_such", "reason": "not-in-force"}}
    assert (code["code"], code["offer"], code["saves"]) == ("TEN-OFF", "by_code", "3.20")
    assert no_code == {"code": "SUMMER", "refused": {"offer": "SUMMER", "reason": "code-unknown"}}
    plain = await desk.shop.caller(await register(desk.house, "globex", may_use_offers=True))
    told = (await plain.post("/v1/offers/validate", json=body)).json()["offers"]
    assert told[1]["refused"] == {"offer": "gold_half", "reason": "member"}, "a tier is told with a right of its own"
    guesses = [{**body, "codes": [f"GUESS-{place}-{each}" for each in range(20)]} for place in range(3)]
    statuses = [(await plain.post("/v1/offers/validate", json=each)).status_code for each in guesses]
    assert statuses[-1] == 429


async def test_who_may_ask(house: House, desk: Desk) -> None:
    answers = {}
    for name, key, changes in (
        ("a partner that may not", await register(house, "globex"), {}),
        ("a partner that may", await register(house, "bits", may_use_offers=True), {}),
        ("it wants to know why", await register(house, "cafe", may_use_offers=True), {"explain": True}),
        ("a partner elsewhere", await register(house, "duke", may_use_offers=True, countries=("ID",)), {}),
        ("a viewer", await hire(house.pool, "ann", "viewer:SG"), {"explain": True}),
        ("a viewer elsewhere", await hire(house.pool, "ben", "viewer:ID"), {}),
        ("a test key", TEST_KEY.new().text, {}),
    ):
        caller = await desk.shop.caller(key)
        body = {"country": "SG", "scenario": "best", "items": [PIZZA], **changes}
        answer = await caller.post("/v1/offers/qualify", json=body)
        answers[name] = answer.status_code, "" if answer.is_success else kind(answer)
    assert answers == {
        "a partner that may not": (403, "offers-not-allowed"),
        "a partner that may": (200, ""),
        "it wants to know why": (403, "explain-not-allowed"),
        "a partner elsewhere": (403, "country-not-allowed"),
        "a viewer": (200, ""),
        "a viewer elsewhere": (403, "role-needed"),
        "a test key": (401, "unauthorized"),
    }


# What is changed in a question, its problem, and where that points.
UNANSWERED: Sequence[tuple[dict[str, Any], str, str]] = [
    ({"items": [PIZZA] * 51}, "invalid", "/items"),
    ({"items": [{**PIZZA, "price": "-1.00"}]}, "invalid", "/items/0/price"),
    ({"items": [RIDE, {**PIZZA, "currency": "USD"}]}, "unknown-currency", "/items/1/currency"),
    ({"member_id": "vy"}, "other-country", "/member_id"),
    ({"country": "XX"}, "unknown-country", "/country"),
]


async def test_what_cannot_be_answered(desk: Desk) -> None:
    for changes, problem, pointer in UNANSWERED:
        body = {"country": "SG", "scenario": "best", "items": [PIZZA], **changes}
        answer = await desk.acme.post("/v1/offers/qualify", json=body)
        told = [each["pointer"] for each in answer.json()["errors"]]
        assert (pointer, answer.status_code, kind(answer), told) == (pointer, 422, problem, [pointer])


async def test_a_change_holds_within_a_second(desk: Desk) -> None:
    store = OfferStore(desk.house.pool)

    async def takes(expected: str) -> float:
        began = time.monotonic()

        async def is_best() -> bool:
            return await desk.best(PIZZA) == [expected]

        await until(is_best, within_s=5)
        return time.monotonic() - began

    await run_offers(desk.house.pool, other("better", benefit={"percent": "90"}, scope=MERCHANT))
    assert await takes("better") < 1
    pausing = Change("person:ann", SystemClock().now())
    await store.move("better", None, Act.PAUSE, pausing)
    assert await takes("lunch_20") < 1
    await store.move("better", None, Act.RESUME, pausing)
    assert await takes("better") < 1
    await run_offers(desk.house.pool, other("better", benefit={"percent": "1"}, scope=MERCHANT))
    assert await takes("lunch_20") < 1


@pytest.mark.long
async def test_without_the_database_public_offers_are_answered(house: House) -> None:
    await run_offers(house.pool, *OFFERS)
    await enter(house, "gina", "SG", "gold")
    key = await register(house, may_use_offers=True)
    async with (
        proxied(house.settings.required("database_url")) as (proxy, address),
        offer_desk(house, house.settings.model_copy(update={"database_url": address})) as opened,
    ):
        desk = Desk(house, opened, await opened.caller(key))
        assert await desk.best(PIZZA, member_id="gina") == ["gold_half"]
        await proxy.cut()

        async def degraded() -> bool:
            told = await desk.ask(PIZZA, member_id="gina")
            return bool(told["degraded"])

        await until(degraded, within_s=15)
        assert await desk.best(PIZZA, member_id="gina") == ["lunch_20"]
        assert await desk.ask(PIZZA) == {**await desk.ask(PIZZA), "degraded": False}, "nobody's answer lacks nothing"
        assert (await desk.acme.get("/readyz")).status_code == 200
        await proxy.mend()

        async def whole() -> bool:
            return await desk.best(PIZZA, member_id="gina") == ["gold_half"]

        await until(whole)


@pytest.mark.long
async def test_nothing_is_answered_before_the_offers_are_read(house: House) -> None:
    key = await register(house, may_use_offers=True)
    async with proxied(house.settings.required("database_url")) as (proxy, address):
        await proxy.cut()
        settings = house.settings.model_copy(update={"database_url": address})
        async with house.running("offers", settings=settings) as health, httpx.AsyncClient() as caller:
            url = f"http://127.0.0.1:{settings.offers_port}"

            async def refused() -> bool:
                try:
                    return (await caller.get(f"{url}/readyz")).status_code == 503
                except httpx.TransportError:
                    return False

            await until(refused)
            body = {"country": "SG", "scenario": "best", "items": [PIZZA]}
            headers = {"Authorization": f"Bearer {key}"}
            assert (await caller.post(f"{url}/v1/offers/qualify", json=body, headers=headers)).status_code == 503
            await proxy.mend()

            async def ready() -> bool:
                return health.ready

            await until(ready)
            assert (await caller.post(f"{url}/v1/offers/qualify", json=body, headers=headers)).status_code == 200
