"""Exchanges over HTTP, both ways, with the reference partner: what a member gives arrives there, and here."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

import httpx
import pytest

from abacus.core.clock import SystemClock
from abacus.core.sources import Agent
from abacus.exchanges.link_desk import Wanted
from abacus.exchanges.types import Account, Match
from abacus.intake.partners.webhooks.store import WebhookStore
from abacus.platform.delivery.decide.signature import new_secret
from abacus.platform.encryption import Secrets, new_keyring_text
from abacus_client import AsyncClient, Refused
from tests.support.exchange_house import prefund
from tests.support.exchanges import SKYMILES, AskedPartner, linking, run_programme
from tests.support.house import House, until
from tests.support.partner_sim import Partner, partner_sim
from tests.support.problems import kind
from tests.support.rewards import give_points
from tests.support.shop import Shop, register, shop

pytestmark = pytest.mark.long

KEYRING = new_keyring_text("one")
NUMBER = "12345678"
APP = Agent("acme", "partner:acme")


class Exchange(NamedTuple):
    """A house with its API and its exchanger, a partner, and somebody who calls."""

    shop: Shop
    partner: Partner
    acme: httpx.AsyncClient
    client: AsyncClient
    skyline: AsyncClient

    async def is_offered(self) -> bool:
        """Whether the API has heard of the programme."""
        asked = {"member_id": "bob", "programme": "skymiles", "points": 2500}
        return (await self.acme.post("/v1/exchange-quotes", json=asked)).status_code == 201

    async def converted(self, points: int = 2500, key: str = "1") -> httpx.Response:
        asked = {"member_id": "bob", "programme": "skymiles", "points": points}
        quote = await self.acme.post("/v1/exchange-quotes", json=asked)
        assert quote.status_code == 201, quote.text
        body = {"quote_id": quote.json()["quote_id"]}
        return await self.acme.post("/v1/exchanges", json=body, headers={"Idempotency-Key": key})

    async def comes_to(self, exchange_id: str, state: str) -> dict[str, Any]:
        answer: dict[str, Any] = {}

        async def there() -> bool:
            answer.update((await self.acme.get(f"/v1/exchanges/{exchange_id}")).json())
            return bool(answer["state"] == state)

        await until(there)
        return answer

    async def points(self) -> tuple[int, int]:
        (account,) = (await self.acme.get("/v1/members/bob")).json()["accounts"]
        return account["balance"], account["held"]


@pytest.fixture
async def opened(house: House) -> AsyncIterator[Exchange]:
    await give_points(house.pool, ["bob"], 10_000)
    key, skyline = await register(house), await register(house, "skyline", may_exchange=True, may_spend=False)
    secret, clock, secrets = new_secret(), SystemClock(), Secrets.of(KEYRING)
    await WebhookStore(house.pool, clock, secrets).set("skyline", "https://skyline.example/hooks", secret)
    settings = house.settings.model_copy(update={"secrets_key": KEYRING, "webhooks_to_private": True})
    async with AsyncExitStack() as stack:
        shop_ = await stack.enter_async_context(shop(house, "exchanger", "awarder", settings=settings))
        callbacks = f"{shop_.url}/v1/exchange-callbacks/skymiles"
        sim = partner_sim(secret=secret, callbacks=callbacks, house=shop_.url, house_key=skyline)
        partner = await stack.enter_async_context(sim)
        document = {**SKYMILES, "carrier": {"url": partner.url}, "reverses_for": "30d"}
        programme = await run_programme(house.pool, document)
        await prefund(house.pool, "skymiles", Decimal(1000))
        links = linking(house.pool, clock, programme, partner=AskedPartner(Match.MATCH), secrets=secrets)
        await links.verify(await links.ask("bob", Wanted("skymiles", Account(NUMBER, "Bob Tan")), APP), None, APP)
        clients = [await stack.enter_async_context(AsyncClient(shop_.url, each)) for each in (key, skyline)]
        opened = Exchange(shop_, partner, await shop_.caller(key), *clients)
        await until(opened.is_offered)
        yield opened


async def test_points_become_miles_and_miles_become_points(opened: Exchange) -> None:
    asked = await opened.converted()
    assert (asked.status_code, asked.json()["state"]) == (202, "held")
    done = await opened.comes_to(asked.json()["exchange_id"], "captured")
    assert [each["state"] for each in done["trail"]] == ["held", "sent", "credited", "captured"]
    assert (await opened.points(), await opened.partner.balance(NUMBER)) == ((7500, 0), 1000)
    sent = await opened.partner.asked("POST", "/_send", {"number": NUMBER, "points": 1000, "id": "T-1"})
    assert sent.status == 202

    async def awarded() -> bool:
        return await opened.points() == (9000, 0)

    await until(awarded)
    await until(lambda: _is(opened.partner, NUMBER, 0))
    statement = await opened.skyline.exchange_statement("skymiles", datetime.now(UTC).date())
    (line,) = statement.lines
    assert (statement.complete, statement.sums.credit, line.id, line.points) == (False, 1500, "T-1", 1000)
    with pytest.raises(Refused, match="no such programme is yours"):
        await opened.skyline.exchange_statement("other", datetime.now(UTC).date())
    with pytest.raises(Refused, match="exchanges-not-allowed"):
        await opened.client.exchange_statement("skymiles", datetime.now(UTC).date())


async def test_what_is_undone_comes_back(opened: Exchange) -> None:
    quote = await opened.client.exchange_quote("bob", "skymiles", target=1000)
    assert quote.quote_id is not None
    exchange_id = (await opened.client.convert(quote.quote_id, member_id="bob")).exchange_id
    await opened.comes_to(str(exchange_id), "captured")
    undone = await opened.client.reverse_exchange(exchange_id)
    assert [each.state for each in undone.trail] == ["held", "sent", "credited", "captured", "reversing"]
    await opened.comes_to(str(exchange_id), "reversed")
    assert (await opened.points(), await opened.partner.balance(NUMBER)) == ((10_000, 0), 0)
    assert [each.state async for each in opened.client.exchanges("bob")] == ["reversed"]
    late = await opened.acme.post(f"/v1/exchanges/{exchange_id}/cancel")
    assert kind(late) == "exchange-state"


async def test_what_is_cut_off_is_told_once(opened: Exchange) -> None:
    """Half of the answers are lost after the credit; the partner decides the rest slowly, and calls back twice."""
    await opened.partner.behaves(cuts=0.5, slow=0.5, slow_s=0.1, duplicates=1)
    ids = [(await opened.converted(1000, str(n))).json()["exchange_id"] for n in range(8)]
    for each in ids:
        await opened.comes_to(each, "captured")
    assert (await opened.points(), await opened.partner.balance(NUMBER)) == ((2000, 0), 8 * 400)


async def test_bad_input_moves_nothing(opened: Exchange) -> None:
    acme = opened.acme
    asked = {"member_id": "bob", "programme": "skymiles"}
    for body, problem in [
        ({**asked, "points": 1100}, "amount-not-allowed"),
        ({**asked, "points": 1000, "target": 400}, "invalid"),
        ({**asked, "programme": "nowhere", "points": 1000}, "not-found"),
        ({**asked, "member_id": "eve", "points": 1000}, "exchange-not-eligible"),
    ]:
        assert kind(await acme.post("/v1/exchange-quotes", json=body)) == problem
    nothing = await acme.post("/v1/exchanges", json={"quote_id": str(UUID(int=7))}, headers={"Idempotency-Key": "1"})
    assert kind(nothing) == "not-found"
    assert kind(await opened.converted(100_000)) == "insufficient-points"
    brought = await acme.put("/v1/inbound-exchanges/T-1", json={"account": NUMBER, "points": 1000})
    assert kind(brought) == "exchanges-not-allowed"
    assert await opened.points() == (10_000, 0)


async def _is(partner: Partner, number: str, balance: int) -> bool:
    return await partner.balance(number) == balance
