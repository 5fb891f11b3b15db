"""What points buy, over HTTP: partners redeem for members, and people see it."""

from collections.abc import AsyncIterator
from functools import partial

import httpx
import pytest

from abacus.platform.encryption import Secrets, new_keyring_text
from tests.support.house import House, until
from tests.support.proxy import proxied
from tests.support.rewards import give_points, load_codes, run_reward
from tests.support.running_campaigns import run_campaign
from tests.support.shop import Shop, register, shop
from tests.support.staff import hire

KEYRING = new_keyring_text("one")
PARTNERS = (("acme", True), ("poor", False))
KEY = {"Idempotency-Key": "k"}
FULFILLED = {"state": "fulfilled"}


async def _is_offered(caller: httpx.AsyncClient, name: str) -> bool:
    listed = await caller.get("/v1/rewards", params={"member_id": "bob"})
    return name in {each["name"] for each in listed.json()["rewards"]}


def kind(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, str(answer.json()["type"]).removeprefix("/problems/")


@pytest.fixture
async def opened(house: House) -> AsyncIterator[Shop]:
    await load_codes(house.pool, ["AAA", "BBB", "CCC"], secrets=Secrets.of(KEYRING))
    await run_reward(house.pool, limits={"uses": {"overall": 3, "member": 2}})
    await give_points(house.pool, ["bob"], 1200)
    settings = house.settings.model_copy(update={"secrets_key": KEYRING})
    async with shop(house, settings=settings) as shop_:
        yield shop_


async def test_a_member_sees_redeems_and_returns(house: House, opened: Shop) -> None:
    acme = await opened.caller(await register(house))
    (listed,) = (await acme.get("/v1/rewards", params={"member_id": "bob"})).json()["rewards"]
    assert (listed["name"], listed["points"], listed["affordable"], listed["locks"]) == ("coffee", 500, True, [])
    path, key = "/v1/members/bob/redemptions", {"Idempotency-Key": "1"}
    first = await acme.post(path, json={"reward": "coffee"}, headers=key)
    assert (first.status_code, first.json()["status"], first.json()["code"]) == (201, "given", "AAA")
    assert (await acme.post(path, json={"reward": "coffee"}, headers=key)).json() == first.json()
    other = await acme.post(path, json={"reward": "coffee", "quantity": 2}, headers=key)
    assert kind(other) == (422, "idempotency-key-reused")
    one = f"{path}/{first.json()['redemption_id']}"
    assert (await acme.get(one)).json() == first.json()
    returned = await acme.post(f"{one}/return")
    assert (returned.status_code, returned.json()["status"], "code" in returned.json()) == (200, "returned", False)
    assert kind(await acme.post(f"{one}/cancel")) == (409, "redemption-state")
    assert (await acme.get("/v1/members/bob")).json()["accounts"][0]["available"] == 1200
    assert [each["status"] for each in (await acme.get(path)).json()["redemptions"]] == ["returned"]


async def test_redemptions_are_read_page_by_page(house: House, opened: Shop) -> None:
    """Each caller sees what is open to it, and nothing twice."""
    acme, other = [await opened.caller(await register(house, name)) for name in ("acme", "other")]
    path = "/v1/members/bob/redemptions"
    await load_codes(house.pool, ["DDD", "EEE", "FFF"], secrets=Secrets.of(KEYRING))
    await run_reward(house.pool, name="tea", price={"points": 1})
    await until(lambda: _is_offered(acme, "tea"))  # the process hears of it within a second
    made = [
        (await caller.post(path, json={"reward": "tea"}, headers={"Idempotency-Key": key})).json()["redemption_id"]
        for key in "123"
        for caller in (acme, other)
    ]
    seen, cursor = list[str](), None
    while True:
        page = (await acme.get(path, params={"limit": 1} | ({"cursor": cursor} if cursor else {}))).json()
        seen += [each["redemption_id"] for each in page["redemptions"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert seen == made[::2][::-1]
    for wrong in ("x", "bm9uZQ", "WyIyMDI2IiwgMV0"):
        assert kind(await acme.get(path, params={"cursor": wrong})) == (422, "invalid")


async def test_what_is_refused_takes_nothing(house: House, opened: Shop) -> None:
    acme, poor = [await opened.caller(await register(house, name, may_spend=may)) for name, may in PARTNERS]
    path = "/v1/members/bob/redemptions"
    for key, caller, body, problem in (
        ("1", poor, {"reward": "coffee"}, (403, "spending-not-allowed")),
        ("2", acme, {"reward": "tea"}, (404, "not-found")),
        ("3", acme, {"reward": "coffee", "quantity": 0}, (422, "invalid")),
        ("4", acme, {"reward": "coffee", "quantity": 3}, (409, "insufficient-points")),
        ("5", acme, {"reward": "coffee", "points": 100}, (409, "insufficient-points")),
    ):
        assert kind(await caller.post(path, json=body, headers={"Idempotency-Key": key})) == problem
    assert kind(await acme.post("/v1/members/nobody/redemptions", json={"reward": "coffee"}, headers=KEY)) == (
        409,
        "insufficient-points",
    )
    assert kind(await acme.post(path, json={"reward": "coffee"})) == (400, "idempotency-key-missing")
    assert (await acme.get("/v1/members/bob")).json()["accounts"][0]["available"] == 1200


async def test_what_is_wrong_has_its_pointer(house: House, opened: Shop) -> None:
    """And nothing is begun."""
    acme = await opened.caller(await register(house))
    account = "insert into account (member_id, program, country, balance) values ('vy', 'GRP', 'VN', 900)"
    await house.pool.execute(account)
    for member, body, problem, pointer in (
        ("bob", {}, "invalid", "/reward"),
        ("bob", {"reward": "A Coffee"}, "invalid", "/reward"),
        ("bob", {"reward": "coffee", "quantity": 101}, "invalid", "/quantity"),
        ("bob", {"reward": "coffee", "quantity": "1"}, "invalid", "/quantity"),
        ("bob", {"reward": "coffee", "points": -1}, "invalid", "/points"),
        ("bob", {"reward": "coffee", "price": 1}, "invalid", "/price"),
        ("vy", {"reward": "coffee"}, "other-country", "/reward"),
    ):
        answer = await acme.post(f"/v1/members/{member}/redemptions", json=body, headers=KEY)
        told = kind(answer), [each["pointer"] for each in answer.json()["errors"]]
        assert told == ((422, problem), [pointer]), body
    assert await house.pool.fetchval("select count(*) from reward_redemption") == 0


@pytest.mark.long
async def test_without_the_database_nothing_is_begun(house: House) -> None:
    await load_codes(house.pool, ["AAA"], secrets=Secrets.of(KEYRING))
    await run_reward(house.pool)
    await give_points(house.pool, ["bob"], 1200)
    key = await register(house)
    async with proxied(house.settings.required("database_url")) as (proxy, address):
        settings = house.settings.model_copy(update={"database_url": address, "secrets_key": KEYRING})
        async with shop(house, settings=settings) as opened:
            acme = await opened.caller(key)
            asked = partial(acme.post, "/v1/members/bob/redemptions", json={"reward": "coffee"}, headers=KEY)
            await proxy.cut()
            assert kind(await asked()) == (503, "unavailable")
            await proxy.mend()
            assert await house.pool.fetchval("select count(*) from reward_redemption") == 0

            async def is_given() -> bool:
                return (await asked()).status_code == 201

            await until(is_given)


async def test_who_ends_a_reward_is_told_which_campaigns_grant_it(house: House, opened: Shop) -> None:
    await run_campaign(house, name="gifts", steps=[{"do": [{"grant": {"reward": "coffee"}}]}])
    ann, why = await opened.caller(await hire(house.pool, "ann", "country_editor:SG")), {"reason": "so"}
    assert "granted_by" not in (await ann.post("/v1/rewards/coffee/pause", json=why)).json()
    ended = (await ann.post("/v1/rewards/coffee/end", json=why)).json()
    assert (ended["state"], ended["granted_by"]) == ("ended", ["gifts@1"])
    assert ended["refused"] == "no version of coffee is in force"


async def test_people_see_and_another_partner_does_not(house: House, opened: Shop) -> None:
    acme, other = [await opened.caller(await register(house, name)) for name in ("acme", "other")]
    sam = await opened.caller(await hire(house.pool, "sam", "support:SG"))
    bought = (await acme.post("/v1/members/bob/redemptions", json={"reward": "coffee"}, headers=KEY)).json()
    one = f"/v1/members/bob/redemptions/{bought['redemption_id']}"
    assert (await sam.get(one)).json()["code"] == "AAA"
    for call in (other.get(one), other.post(f"{one}/return"), other.post(f"{one}/fulfilment", json=FULFILLED)):
        assert kind(await call) == (404, "not-found")
    assert (await sam.post(f"{one}/return")).json()["status"] == "returned"
    assert [each["name"] for each in (await sam.get("/v1/rewards")).json()["rewards"]] == ["coffee"]
