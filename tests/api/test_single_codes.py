"""Single codes over HTTP: asked about, taken, and why not; and who guesses waits."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from abacus.core.clock import SystemClock
from abacus.core.codes import spelled
from abacus.engage.offers.codes.desk import CodeDesk
from abacus.engage.offers.codes.loader import Batch
from abacus.people.types.person import Actor
from abacus.platform.encryption import Secrets, new_keyring_text
from tests.api.test_asked_offers import EVERYTHING, PIZZA, other
from tests.engage.offers.coded import codes
from tests.support.house import House
from tests.support.offers import run_offers
from tests.support.problems import kind
from tests.support.shop import offer_desk, register

pytestmark = pytest.mark.once

KEYRING = new_keyring_text("one")
A, B, C, ELSE = codes(4)
OFFERS = [
    other("lunch_20", audience="code", codes="pool", benefit={"percent": "10"}, scope=EVERYTHING),
    other("public", audience="code", code="TEN-OFF", benefit={"amount_off": "1"}, scope=EVERYTHING),
]


@dataclass(frozen=True)
class Desk:
    """Offers by code, and a partner that may take them."""

    acme: httpx.AsyncClient

    async def reserve(self, key: str, code: str, offer: str = "lunch_20", member_id: str = "bob") -> httpx.Response:
        body = {"member_id": member_id, "item": PIZZA, "code": code}
        headers = {"Idempotency-Key": key}
        return await self.acme.post(f"/v1/offers/{offer}/reservations", json=body, headers=headers)

    async def validate(self, *typed: str) -> list[dict[str, Any]]:
        body = {"country": "SG", "items": [PIZZA], "codes": typed}
        answer = await self.acme.post("/v1/offers/validate", json=body)
        assert answer.status_code == 200, answer.text
        offers: list[dict[str, Any]] = answer.json()["offers"]
        return offers


async def load(house: House, *some: str) -> None:
    desk, by = CodeDesk(house.pool, SystemClock(), Secrets.of(KEYRING)), Actor("person:ann", None)
    await desk.load(Batch("lunch_20", "SG", "one", is_checked=True, made_by="person:ann"), some, by)


@pytest.fixture
async def desk(house: House) -> AsyncIterator[Desk]:
    await load(house, A, B, C)
    await run_offers(house.pool, *OFFERS)
    key = await register(house, may_use_offers=True)
    settings = house.settings.model_copy(update={"secrets_key": KEYRING})
    async with offer_desk(house, settings) as shop:
        yield Desk(await shop.caller(key))


async def test_a_code_is_taken_once(desk: Desk) -> None:
    typed = spelled(A).lower()
    (free,) = await desk.validate(typed)
    assert (free["code"], free["offer"], free["saves"]) == (typed, "lunch_20", "1.20")
    held = await desk.reserve("1", typed)
    assert (held.status_code, held.json()["saves"]) == (201, "1.20")
    assert (await desk.reserve("1", typed)).headers["idempotency-replayed"] == "true"
    for code, reason in ((A, "code-used"), (ELSE, "code-unknown"), ("A-wrong-slip", "code-unknown")):
        answer = await desk.reserve(f"of-{code}", code, member_id="ann")
        assert (answer.status_code, kind(answer), answer.json()["reason"]) == (409, "offer-refused", reason)
    reasons = [each["refused"]["reason"] for each in await desk.validate(A, ELSE)]
    assert reasons == ["code-used", "code-unknown"]
    id_ = held.json()["reservation_id"]
    redeemed = await desk.acme.post(f"/v1/reservations/{id_}/redeem", json={"items": [PIZZA]})
    assert redeemed.status_code == 201
    assert (await desk.reserve("2", "ten off", "public")).status_code == 201


async def test_who_guesses_waits_also_with_a_right_code(desk: Desk) -> None:
    answers = [await desk.reserve(f"guess-{number}", code) for number, code in enumerate(codes(40)[4:])]
    assert {kind(each) for each in answers} == {"offer-refused", "too-many-requests"}
    right = await desk.reserve("right", B)
    assert (kind(right), right.status_code) == ("too-many-requests", 429)
    assert int(right.headers["retry-after"]) >= 1
    asked = await desk.acme.post("/v1/offers/validate", json={"country": "SG", "items": [PIZZA], "codes": [B]})
    assert asked.status_code == 429
