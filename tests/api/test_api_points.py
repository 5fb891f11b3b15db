"""A member's points over the API: spent, held, captured, released, taken back, adjusted; and the remaining balance."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.support.house import House, completed, until
from tests.support.outcomes import verified
from tests.support.shop import Shop, award, register, shop

pytestmark = pytest.mark.once

CALLERS = 100


@pytest.fixture
async def open_shop(house: House) -> AsyncIterator[Shop]:
    async with shop(
        house, "awarder", "expirer", settings=house.settings.model_copy(update={"adjustment_limit": 100})
    ) as it:
        yield it


async def rich(house: House, acme: httpx.AsyncClient, points: int = 100) -> None:
    """Bob has so many points."""
    answer = await award(
        acme, "start", {"member_id": "bob", "country": "SG", "points": points, "reason": "Hi"}, Prefer="wait=10"
    )
    assert answer.status_code == 201, answer.text


async def order(caller: httpx.AsyncClient, path: str, key: str, body: dict[str, Any] | None = None) -> httpx.Response:
    return await caller.post(f"/v1/{path}", json=body or {}, headers={"Idempotency-Key": key})


async def account(caller: httpx.AsyncClient) -> tuple[int, int, int]:
    (shown,) = (await caller.get("/v1/members/bob")).json()["accounts"]
    return shown["balance"], shown["held"], shown["available"]


def kind(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, str(answer.json()["type"]).removeprefix("/problems/")


@pytest.mark.long
async def test_a_spend_is_done_once_and_never_beyond_what_is_there(house: House, open_shop: Shop) -> None:
    acme = await open_shop.caller(await register(house))
    await rich(house, acme)
    first = await order(acme, "members/bob/spend", "s-1", {"points": 60, "reason": "A coffee"})
    assert first.status_code == 201, first.text
    told = first.json()
    assert (told["points"], told["balance"], told["available"], told["kind"]) == (-60, 40, 40, "spend")
    again = await order(acme, "members/bob/spend", "s-1", {"points": 60, "reason": "A coffee"})
    assert (again.status_code, again.json(), again.headers["idempotency-replayed"]) == (201, told, "true")
    other = await order(acme, "members/bob/spend", "s-1", {"points": 61})
    assert (kind(other), other.json()["detail"]) == (
        (422, "idempotency-key-reused"),
        "points was 60, now it is 61; reason was 'A coffee', now it is 'spent'",
    )
    assert kind(await order(acme, "members/bob/spend", "s-2", {"points": 41})) == (409, "insufficient-points")
    assert kind(await acme.post("/v1/members/bob/spend", json={"points": 1})) == (400, "idempotency-key-missing")
    assert kind(await order(acme, "members/nobody/spend", "s-3", {"points": 1})) == (404, "not-found")
    assert kind(await order(acme, "members/bob/spend", "s-4", {"points": 0})) == (422, "invalid")
    assert kind(await order(acme, "members/bob/spend", "s-5", {"points": 1, "program": "OVO"})) == (404, "not-found")
    elsewhere = {"points": 1, "program": "GRP", "country": "ID"}
    for path in ("spend", "holds"):
        assert kind(await order(acme, f"members/bob/{path}", "s-6", elsewhere)) == (422, "contradiction")
    assert await account(acme) == (40, 0, 40)
    assert await verified(house)


@pytest.mark.long
async def test_a_key_means_an_award_or_a_movement_and_never_both(house: House) -> None:
    """Also before the award is posted: another use of its key takes back nobody's promise."""
    async with shop(house) as opened:
        acme = await opened.caller(await register(house, may_adjust=True))
        assert (await award(acme, "promised")).status_code == 202
        async with house.running("awarder"):
            await rich(house, acme, 1000)
        assert (await award(acme, "k")).status_code == 202
        taken = await order(acme, "members/bob/spend", "k", {"points": 1})
        assert kind(taken) == (422, "idempotency-key-reused")
        assert taken.json()["detail"] == "the first request was for an award"
        adjusted = await order(
            acme, "members/bob/adjustments", "k", {"points": 1, "reason": "A mistake", "actor": "ann"}
        )
        assert kind(adjusted) == (422, "idempotency-key-reused")
        assert (await order(acme, "members/bob/spend", "s", {"points": 1})).status_code == 201
        other = await award(acme, "s")
        assert kind(other) == (422, "idempotency-key-reused")
        assert other.json()["detail"] == "it is the key of another request, whose facts are not at hand"
        async with house.running("awarder"):
            await until(lambda: house_transfers(house, 4))
    assert await house.reasons() == {}


@pytest.mark.long
async def test_a_hundred_spenders_at_once_spend_what_is_there(house: House, open_shop: Shop) -> None:
    acme = await open_shop.caller(await register(house))
    await rich(house, acme, 700)
    answers = await asyncio.gather(
        *(order(acme, "members/bob/spend", f"s-{number}", {"points": 10}) for number in range(CALLERS))
    )
    assert Counter(answer.status_code for answer in answers) == {201: 70, 409: 30}
    assert await account(acme) == (0, 0, 0)
    assert await verified(house)


async def test_what_is_held_is_there_when_it_is_captured(house: House, open_shop: Shop) -> None:
    acme = await open_shop.caller(await register(house))
    await rich(house, acme)
    held = (await order(acme, "members/bob/holds", "h-1", {"points": 80, "reason": "A table"})).json()
    assert (held["points"], held["balance"], held["available"], held["held"]) == (0, 100, 20, 80)
    assert kind(await order(acme, "members/bob/spend", "s-1", {"points": 21})) == (409, "insufficient-points")
    (listed,) = (await acme.get("/v1/members/bob/holds")).json()["holds"]
    assert (listed["hold_id"], listed["points"], listed["until"]) == (held["hold_id"], 80, held["until"])
    hold = f"members/bob/holds/{held['hold_id']}"
    assert kind(await acme.post(f"/v1/{hold}/capture", json={"points": 81})) == (422, "hold-too-small")
    captured = await acme.post(f"/v1/{hold}/capture", json={"points": 50})
    assert captured.status_code == 201
    told = captured.json()
    assert (told["kind"], told["points"], told["balance"], told["available"]) == ("spend", -50, 50, 50)
    again = await acme.post(f"/v1/{hold}/capture", json={"points": 50})
    assert (again.json(), again.headers["idempotency-replayed"]) == (told, "true")
    assert kind(await acme.post(f"/v1/{hold}/capture", json={"points": 30})) == (409, "hold-not-open")
    assert kind(await acme.post(f"/v1/{hold}/release")) == (409, "hold-not-open")
    assert await account(acme) == (50, 0, 50)
    assert await verified(house)


@pytest.mark.long
async def test_a_hold_is_let_go_or_ends_by_itself(house: House, open_shop: Shop) -> None:
    acme = await open_shop.caller(await register(house))
    await rich(house, acme)
    first = (await order(acme, "members/bob/holds", "h-1", {"points": 60})).json()
    released = await acme.post(f"/v1/members/bob/holds/{first['hold_id']}/release")
    assert (released.status_code, released.json()["available"]) == (201, 100)
    second = (await order(acme, "members/bob/holds", "h-2", {"points": 100, "expires_in": 1})).json()

    async def is_over() -> bool:
        return await account(acme) == (100, 0, 100)

    await until(is_over)
    late = await acme.post(f"/v1/members/bob/holds/{second['hold_id']}/capture")
    assert kind(late) == (409, "hold-not-open")
    kinds = [row["kind"] for row in await house.pool.fetch("select kind from transfer order by seq")]
    assert kinds == ["earn", "hold", "release", "hold", "release"]
    assert await verified(house)


@pytest.mark.long
async def test_holds_are_those_of_the_partner_that_placed_them(house: House, open_shop: Shop) -> None:
    acme = await open_shop.caller(await register(house))
    other = await open_shop.caller(await register(house, "other"))
    await rich(house, acme)
    held = (await order(acme, "members/bob/holds", "h-1", {"points": 60})).json()
    path = f"/v1/members/bob/holds/{held['hold_id']}"
    assert kind(await other.post(f"{path}/capture")) == (404, "no-such-hold")
    assert kind(await acme.post(f"/v1/members/eve/holds/{held['hold_id']}/capture")) == (404, "no-such-hold")
    assert (await other.get("/v1/members/bob/holds")).json()["holds"] == []
    poor = await open_shop.caller(await register(house, "poor", may_spend=False))
    assert kind(await order(poor, "members/bob/spend", "s-1", {"points": 1})) == (403, "spending-not-allowed")
    body = {"points": 1, "reason": "Sorry", "actor": "ann"}
    assert kind(await order(poor, "members/bob/adjustments", "a-1", body)) == (403, "adjustments-not-allowed")


async def test_transfers_are_taken_back_in_part_and_in_full(house: House, open_shop: Shop) -> None:
    acme = await open_shop.caller(await register(house))
    poor = await open_shop.caller(await register(house, "poor"))
    await rich(house, acme)
    await order(acme, "members/bob/spend", "s-1", {"points": 30})
    spent, earned = (await acme.get("/v1/members/bob/transfers")).json()["transfers"]
    part = await order(acme, f"transfers/{spent['id']}/reverse", "r-1", {"points": 10, "reason": "One of three"})
    assert (part.status_code, part.json()["points"], part.json()["reverses"]) == (201, 10, "api:acme:s-1")
    rest = await order(acme, f"transfers/{spent['id']}/reverse", "r-2")
    assert (rest.json()["points"], rest.json()["balance"]) == (20, 100)
    assert kind(await order(acme, f"transfers/{spent['id']}/reverse", "r-3")) == (409, "reversed-already")
    assert kind(await order(poor, f"transfers/{earned['id']}/reverse", "r-4")) == (403, "adjustments-not-allowed")
    back = await order(acme, f"transfers/{earned['id']}/reverse", "r-5")
    assert (back.json()["points"], back.json()["explanation"]["own_lot"]) == (-100, 70)
    assert kind(await order(acme, f"transfers/{back.json()['id']}/reverse", "r-6")) == (422, "not-reversible")
    for path in ("nothing", "bob:GRP:99", "eve:GRP:1", "bob:GRP:x", f"bob:GRP:{10**20}", "b%00b:GRP:1", "bob:grp:1"):
        assert kind(await order(acme, f"transfers/{path}/reverse", "r-7")) == (404, "not-found")
    assert await account(acme) == (0, 0, 0)
    assert await verified(house)


async def test_lots_go_oldest_first(house: House, open_shop: Shop) -> None:
    acme = await open_shop.caller(await register(house))
    for number, points in enumerate((30, 20, 10)):
        body = {"member_id": "bob", "country": "SG", "points": points, "reason": "Hi"}
        await award(acme, f"a-{number}", body, Prefer="wait=10")
    await order(acme, "members/bob/spend", "s-1", {"points": 35})
    page = (await acme.get("/v1/members/bob/lots", params={"limit": 1})).json()
    assert [(lot["key"], lot["points"], lot["remaining"]) for lot in page["lots"]] == [("api:acme:a-1", 20, 15)]
    following = (await acme.get("/v1/members/bob/lots", params={"limit": 1, "cursor": page["next"]})).json()
    assert [(lot["key"], lot["remaining"]) for lot in following["lots"]] == [("api:acme:a-2", 10)]
    assert following["next"] is None


@pytest.mark.long
async def test_refunded_points_that_were_spent_are_owed(house: House, open_shop: Shop) -> None:
    acme = await open_shop.caller(await register(house))
    async with house.running("calculator"):
        await house.produce([completed(1, member_id="bob")])
        await until(lambda: _transfers(house, 1))
        await order(acme, "members/bob/spend", "s-1", {"points": 15})
        refund = completed(1, member_id="bob", type="transaction.refunded", refund_id="R-1", amount="10.00")
        await house.produce([refund])
        await until(lambda: _transfers(house, 3))
    assert await account(acme) == (-15, 0, -15)
    assert await verified(house)


async def _transfers(house: House, count: int) -> bool:
    return await house.transfers() >= count


async def house_transfers(house: House, count: int) -> bool:
    return await house.transfers() == count


async def test_points_pay_at_a_till_what_the_quote_says(house: House, open_shop: Shop) -> None:
    acme = await open_shop.caller(await register(house))
    await rich(house, acme, 500)
    quote = (await acme.post("/v1/point-quotes", json={"member_id": "bob", "money": "4.209"})).json()
    assert (quote["points"], quote["money"], quote["currency"], quote["available"]) == (420, "4.20", "SGD", 500)
    lunch = {"points": 420, "money": "4.20", "price": "10.00", "reason": "A lunch"}
    paid = await order(acme, "members/bob/spend", "t-1", lunch)
    assert paid.status_code == 201, paid.text
    told = {name: paid.json()["explanation"][name] for name in ("money", "currency", "card", "price")}
    assert told == {"money": "4.20", "currency": "SGD", "card": quote["card"], "price": "10.00"}
    other = await order(acme, "members/bob/spend", "t-1", {**lunch, "price": "11.00"})
    assert kind(other) == (422, "idempotency-key-reused")
    assert kind(await order(acme, "members/bob/spend", "t-2", {"points": 50, "money": "0.51"})) == (
        409,
        "money-differs",
    )
    left = (await acme.post("/v1/point-quotes", json={"member_id": "bob"})).json()
    assert (left["points"], left["money"]) == (80, "0.80")
    path = f"transfers/{paid.json()['id']}/reverse"
    half = (await order(acme, path, "t-3", {"amount": "5.00"})).json()
    assert (half["points"], half["explanation"]["money"]) == (210, "2.90")
    assert kind(await order(acme, path, "t-3", {"amount": "6.00"})) == (422, "idempotency-key-reused")
    assert kind(await order(acme, path, "t-4", {"amount": "5.00", "points": 1})) == (422, "contradiction")
    gift = await order(acme, "transfers/bob:GRP:1/reverse", "t-5", {"amount": "5.00"})
    assert kind(gift) == (422, "contradiction")
    assert kind(await acme.post("/v1/point-quotes", json={"member_id": "nobody"})) == (404, "not-found")
    assert await verified(house)
