"""Test keys try offers, rewards, codes and journeys in the sandbox, and take nothing live."""

from collections.abc import Sequence
from typing import Final

import httpx
import pytest

from abacus.engage.offers.codes.desk import CodeDesk
from abacus.engage.offers.codes.loader import Batch
from abacus.intake.partners.store import PartnerStore
from abacus.people.types.person import Actor
from abacus.platform.encryption import Secrets, new_keyring_text
from abacus.platform.postgres import Pool
from tests.api.sandboxes import CLOCK, LIMITS, access, opened, rows
from tests.engage.offers.coded import codes
from tests.support.house import House, until
from tests.support.offers import PIZZA, document, run_offers
from tests.support.problems import kind
from tests.support.rewards import load_codes, run_reward
from tests.support.running_journeys import run_journey
from tests.support.shop import award, offer_desk, register, shop

pytestmark = pytest.mark.once


@pytest.mark.long
async def test_rewards_are_redeemed_for_codes_of_no_worth(house: House, sandbox: Pool) -> None:
    """Nothing of the live ledger, its stock and its codes is touched."""
    keyring = new_keyring_text("one")
    await load_codes(house.pool, ["AAA"], secrets=Secrets.of(keyring))
    await run_reward(house.pool, price={"points": 60}, limits={"uses": {"member": 1}})
    await register(house, limits=LIMITS)
    test, _ = await access(house, sandbox)
    async with shop(house, settings=house.settings.model_copy(update={"secrets_key": keyring})) as running:
        acme, path = await running.caller(test), "/v1/members/bob/redemptions"
        assert (await award(acme, "a-1", Prefer="wait=10")).json()["balance"] == 100
        before = await rows(house.pool, "public")

        async def stocked() -> bool:
            (coffee,) = (await acme.get("/v1/rewards", params={"member_id": "bob"})).json()["rewards"]
            return not coffee["locks"]

        await until(stocked)
        bought = await acme.post(path, json={"reward": "coffee"}, headers={"Idempotency-Key": "1"})
        assert (bought.status_code, bought.json()["status"], bought.json()["code"][:5]) == (201, "given", "TEST-")
        again = await acme.post(path, json={"reward": "coffee"}, headers={"Idempotency-Key": "2"})
        assert (again.status_code, kind(again)) == (409, "insufficient-points")
        returned = await acme.post(f"{path}/{bought.json()['redemption_id']}/return")
        assert returned.json()["status"] == "returned"
        (account,) = (await acme.get("/v1/members/bob")).json()["accounts"]
        assert account["available"] == 100
        assert await rows(house.pool, "public") == before


SCOPE: Final = {"everything": True}
UNLIMITED: Final = {"unlimited": True}
FEW: Final = {"uses": {"overall": 1}}
OFFERS: Final = (
    document(name="once", benefit={"amount_off": "1"}, scope=SCOPE, limits=FEW, stack="always"),
    document(name="bonus", benefit={"points_plus": 50}, scope=SCOPE, limits=UNLIMITED, stack="always"),
    document(name="by_mail", benefit={"amount_off": "9"}, scope=SCOPE, limits=UNLIMITED, audience="invitation"),
)


@pytest.mark.long
async def test_offers_are_taken_in_the_sandbox_alone(house: House, sandbox: Pool) -> None:
    """Each limit is the sandbox's own, and points are told and not awarded. Rights are the live ones."""
    await run_offers(house.pool, *OFFERS)
    live_key = await register(house, may_use_offers=True)
    test_key, _ = await access(house, sandbox)
    async with offer_desk(house) as running:
        live, test = await running.caller(live_key), await running.caller(test_key)

        async def reserve(caller: httpx.AsyncClient, offer: str, key: str) -> httpx.Response:
            body = {"member_id": "bob", "item": PIZZA}
            return await caller.post(f"/v1/offers/{offer}/reservations", json=body, headers={"Idempotency-Key": key})

        before = await rows(house.pool, "public")
        ask = {"member_id": "bob", "country": "SG", "scenario": "all", "items": [PIZZA]}
        asked = await test.post("/v1/offers/qualify", json=ask)
        assert asked.headers["abacus-mode"] == "test"
        (item,) = asked.json()["items"]
        assert {each["offer"] for each in (item["best"], *item["others"])} == {"once", "bonus"}
        assert asked.json()["degraded"] is False
        assert kind(await test.post("/v1/offers/qualify", json={**ask, "explain": True})) == "explain-not-allowed"
        named = {"member_id": "bob", "country": "SG", "items": [PIZZA], "offers": ["once"], "codes": ["K7PMQ2XW"]}
        verdicts = (await test.post("/v1/offers/validate", json=named)).json()["offers"]
        assert [each.get("saves") for each in verdicts] == ["1.00", None]

        held = await reserve(test, "once", "1")
        assert (held.status_code, held.json()["saves"], held.headers["abacus-mode"]) == (201, "1.00", "test")
        assert kind(await reserve(test, "once", "2")) == "offer-limit-reached"
        of = f"/v1/reservations/{held.json()['reservation_id']}"
        assert kind(await live.post(f"{of}/release")) == "not-found"
        assert (await test.post(f"{of}/release")).json()["status"] == "released"
        bonus = (await reserve(test, "bonus", "3")).json()["reservation_id"]
        redeemed = await test.post(f"/v1/reservations/{bonus}/redeem", json={"items": [PIZZA]})
        assert (redeemed.status_code, redeemed.json()["points"]) == (201, 50)
        path = f"/v1/redemptions/{redeemed.json()['redemption_id']}/rollback"
        assert kind(await live.post(path, headers={"Idempotency-Key": "4"})) == "not-found"
        rolled_back = await test.post(path, headers={"Idempotency-Key": "4"})
        assert rolled_back.json()["points_rolled_back"] == 50

        assert await rows(house.pool, "public") == before
        assert await sandbox.fetchval("select count(*) from transfer") == 0
        assert (await reserve(live, "once", "1")).status_code == 201
        await PartnerStore(house.pool, CLOCK).change("acme", {"may_use_offers": False})

        async def refused() -> bool:
            answer = await test.post("/v1/offers/qualify", json=ask)
            return answer.status_code == 403 and kind(answer) == "offers-not-allowed"

        await until(refused)


@pytest.mark.long
async def test_live_codes_and_invitations_are_tried_in_the_sandbox(house: House, sandbox: Pool) -> None:
    """A code that is used there is free for members, and who guesses with the one key waits with the other."""
    keyring, (one, *unknown) = new_keyring_text("one"), codes(41)
    batch = Batch("lunch_20", "SG", "one", is_checked=True, made_by="person:ann")
    await CodeDesk(house.pool, CLOCK, Secrets.of(keyring)).load(batch, [one], Actor("person:ann", None))
    by_code = document(name="lunch_20", audience="code", codes="pool", scope=SCOPE, limits=UNLIMITED)
    await run_offers(house.pool, *OFFERS, by_code)
    live_key, (test_key, _) = await register(house, may_use_offers=True), await access(house, sandbox)
    async with offer_desk(house, house.settings.model_copy(update={"secrets_key": keyring})) as running:
        live, test = await running.caller(live_key), await running.caller(test_key)

        async def reserve(
            caller: httpx.AsyncClient, offer: str, member_id: str, code: str | None = None
        ) -> httpx.Response:
            body = {"member_id": member_id, "item": PIZZA, "code": code}
            headers = {"Idempotency-Key": f"{offer}-{member_id}"}
            return await caller.post(f"/v1/offers/{offer}/reservations", json=body, headers=headers)

        held = await reserve(test, "lunch_20", "bob", one)
        assert held.status_code == 201, held.text
        redeemed = await test.post(f"/v1/reservations/{held.json()['reservation_id']}/redeem", json={"items": [PIZZA]})
        assert redeemed.status_code == 201
        assert (await reserve(test, "lunch_20", "ann", one)).json()["reason"] == "code-used"
        assert await house.pool.fetchval("select count(*) from offer_code_use") == 0
        assert (await reserve(live, "lunch_20", "ann", one)).status_code == 201
        rollback = f"/v1/redemptions/{redeemed.json()['redemption_id']}/rollback"
        assert (await test.post(rollback, headers={"Idempotency-Key": "back"})).status_code == 200

        async def free_again() -> bool:
            return (await reserve(test, "lunch_20", "eve", one)).status_code == 201

        await until(free_again)

        assert (await reserve(test, "by_mail", "bob")).json()["reason"] == "admission"
        assert (await reserve(test, "by_mail", "invited-bob")).status_code == 201
        assert (await reserve(live, "by_mail", "invited-bob")).json()["reason"] == "admission"

        async def guess(caller: httpx.AsyncClient, some: Sequence[str]) -> int:
            body = {"country": "SG", "items": [PIZZA], "codes": some}
            return (await caller.post("/v1/offers/validate", json=body)).status_code

        assert [await guess(test, unknown[:20]), await guess(test, unknown[20:])] == [200, 429]
        assert await guess(live, [one]) == 429


@pytest.mark.long
async def test_entries_to_live_journeys_are_tried_in_the_sandbox(house: House, sandbox: Pool) -> None:
    """Nobody enters the live journey."""
    await run_journey(house, name="trip", entry={"api": True}, begin="end", nodes={"end": {"exit": "through"}})
    async with opened(house, sandbox) as at:
        before = await rows(house.pool, "public")
        body, key = {"member_id": "bob", "context": {}}, {"Idempotency-Key": "1"}
        tried = await at.test.post("/v1/journeys/trip/entries", json=body, headers=key)
        assert (tried.status_code, tried.json()["status"]) == (202, "waiting")
        assert len((await at.test.get("/v1/journeys/trip/members/bob")).json()["entries"]) == 1
        assert (await at.live.get("/v1/journeys/trip/members/bob")).json()["entries"] == []
        assert await rows(house.pool, "public") == before
