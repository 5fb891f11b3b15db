"""Who sees exchanges, who undoes them, and what is noted of it: over HTTP."""

from collections.abc import AsyncIterator
from typing import NamedTuple
from uuid import uuid4

import httpx
import orjson
import pytest

from abacus.api import exchanges
from abacus.core.sources import Agent, partner_source
from abacus.exchanges.decide.exchange import Exchange
from abacus.exchanges.decide.quote import Wish, quoted
from abacus.exchanges.exchange_rows import enter
from abacus.intake.partners.members import MemberReader
from abacus.people.store.audit import log
from abacus.platform.postgres import Pool
from tests.support.exchange_door import ExchangeDoor, exchange_door
from tests.support.exchange_house import LINK, ExchangeHouse
from tests.support.problems import kind
from tests.support.rewards import give_points

SHOP = Agent("shop", partner_source("shop"))


class Counter(NamedTuple):
    """A house, who calls it, and the shop whose exchanges are there."""

    house: ExchangeHouse
    door: ExchangeDoor
    shop: httpx.AsyncClient

    async def exchange(self, n: int = 1) -> Exchange:
        return await self.house.exchange(key=str(n))

    async def did(self) -> list[str]:
        """What the log of Singapore has of bob, the newest first."""
        entries = await log(self.house.pool, subjects=["member:bob"], countries=["SG"])
        return [orjson.loads(each.details)["did"] for each in entries]


@pytest.fixture
async def counter(pool: Pool) -> AsyncIterator[Counter]:
    await give_points(pool, ["bob"], 10_000)
    house = ExchangeHouse(pool)
    await house.prefund()
    async with exchange_door(pool, [exchanges.router], house.desk, MemberReader(pool)) as door:
        yield Counter(house, door, await door.partner("shop"))


async def test_a_person_undoes_what_is_of_a_country_where_it_may_move_points(counter: Counter) -> None:
    one, two = await counter.exchange(1), await counter.exchange(2)
    mixed = await counter.door.person("mixed", "support:VN", "viewer:SG")
    ann = await counter.door.person("ann", "support:SG")
    assert (await mixed.get(f"/v1/exchanges/{one.exchange_id}")).status_code == 200
    for deed in ("cancel", "reverse"):
        assert kind(await mixed.post(f"/v1/exchanges/{one.exchange_id}/{deed}")) == "role-needed"
    assert (await ann.post(f"/v1/exchanges/{one.exchange_id}/cancel")).json()["state"] == "released"
    assert await counter.did() == ["cancel-exchange"]
    assert (await counter.shop.post(f"/v1/exchanges/{two.exchange_id}/cancel")).json()["state"] == "released"
    assert await counter.did() == ["cancel-exchange"]


async def test_a_partner_that_sees_others_undoes_nothing_of_theirs(counter: Counter) -> None:
    one = await counter.exchange()
    seeing = await counter.door.partner("seeing", may_see_others=True)
    house = await counter.door.partner("house", may_see_others=True, may_adjust=True)
    for deed in ("cancel", "reverse"):
        refused = await seeing.post(f"/v1/exchanges/{one.exchange_id}/{deed}")
        assert (refused.status_code, kind(refused)) == (403, "adjustments-not-allowed")
    assert (await house.post(f"/v1/exchanges/{one.exchange_id}/cancel")).json()["state"] == "released"


async def test_what_a_person_converts_is_noted_once(counter: Counter) -> None:
    ann = await counter.door.person("ann", "support:SG")
    asked = {"member_id": "bob", "programme": "skymiles", "points": 2500}
    quote = {"quote_id": (await ann.post("/v1/exchange-quotes", json=asked)).json()["quote_id"]}
    for _ in range(2):
        done = await ann.post("/v1/exchanges", json=quote, headers={"Idempotency-Key": "1"})
        assert (done.status_code, done.json()["state"]) == (202, "held")
    assert await counter.did() == ["convert-exchange"]
    unknown = await ann.post("/v1/exchanges", json={"quote_id": str(uuid4())}, headers={"Idempotency-Key": "2"})
    assert (kind(unknown), await counter.did()) == ("not-found", ["convert-exchange"])


async def test_a_list_has_no_quotes_and_nothing_of_others_however_many_there_are(counter: Counter) -> None:
    one, two = await counter.exchange(1), await counter.exchange(2)
    wish, now = Wish("bob", "skymiles", points=2500), counter.house.clock.now()
    quotes = [quoted(counter.house.programme, wish, LINK, SHOP, now, exchange_id=uuid4()) for _ in range(200)]
    await enter(counter.house.pool, quotes)
    other, eli = await counter.door.partner("other"), await counter.door.person("eli", "viewer:VN")
    for caller in (other, eli):
        assert (await caller.get("/v1/exchanges?member_id=bob")).json()["exchanges"] == []
    asked: dict[str, str] = {"member_id": "bob", "limit": "1"}
    first = (await counter.shop.get("/v1/exchanges", params=asked)).json()
    then = (await counter.shop.get("/v1/exchanges", params={**asked, "cursor": first["next"]})).json()
    listed = {each["exchange_id"] for page in (first, then) for each in page["exchanges"]}
    assert (listed, then["next"]) == ({str(two.exchange_id), str(one.exchange_id)}, None)
