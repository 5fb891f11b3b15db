"""A transaction is awarded once, whoever asks, and who asks again is told so; a partner names only its own sources."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from abacus.core.ids import award_id
from abacus.platform.postgres import Pool
from tests.support.house import House, completed, until
from tests.support.problems import kind
from tests.support.shop import MEAL, Shop, award, register, shop

AWARDED = (409, "already-awarded")


@pytest.fixture
async def open_shop(house: House) -> AsyncIterator[Shop]:
    async with shop(house, "awarder") as opened:
        yield opened


def bought(transaction_id: str = "A-1", **changed: Any) -> dict[str, Any]:
    return {"member_id": "bob", "transaction": {**MEAL, "transaction_id": transaction_id, **changed}}


def told(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, kind(answer)


async def posted(caller: httpx.AsyncClient, key: str, body: dict[str, Any]) -> str:
    answer = await award(caller, key, body, Prefer="wait=10")
    assert answer.status_code == 201, answer.text
    return str(answer.json()["award_id"])


@pytest.mark.long
async def test_a_new_key_does_not_award_a_transaction_again(house: House, open_shop: Shop) -> None:
    acme = await open_shop.caller(await register(house))
    first = await posted(acme, "a", bought())
    again = await award(acme, "b", bought())
    assert told(again) == AWARDED
    assert again.json()["award_id"] == first == str(award_id("api:acme:a"))
    assert told(await award(acme, "c", bought(amount="16.00"))) == AWARDED
    same = await award(acme, "a", bought())
    assert (same.status_code, same.headers["idempotency-replayed"]) == (202, "true")
    other = await award(acme, "a", bought(amount="16.00"))
    assert told(other) == (422, "idempotency-key-reused")
    assert await house.transfers() == 1


@pytest.mark.long
async def test_another_partner_is_not_told_whose_it_is(house: House, open_shop: Shop) -> None:
    acme = await open_shop.caller(await register(house, sources=("shop",)))
    bits = await open_shop.caller(await register(house, "bits", sources=("shop",)))
    await posted(acme, "a", bought(source="shop"))
    again = await award(bits, "a", bought(source="shop"))
    assert told(again) == AWARDED
    assert "award_id" not in again.json()
    assert "acme" not in again.text


@pytest.mark.long
async def test_each_of_a_batch_is_told_by_itself(house: House, open_shop: Shop) -> None:
    acme = await open_shop.caller(await register(house))
    first = await posted(acme, "a", bought())
    items = [
        {"idempotency_key": key, **bought(of)} for key, of in (("b", "A-1"), ("c", "A-2"), ("a", "A-1"), ("d", "A-1"))
    ]
    answer = await acme.post("/v1/awards/batch", json={"awards": items})
    results = answer.json()["results"]
    assert [each["outcome"] for each in results] == ["refused", "accepted", "replayed", "refused"]
    assert [each["problem"]["award_id"] for each in results if "problem" in each] == [first, first]
    assert {each["problem"]["type"] for each in results if "problem" in each} == {"/problems/already-awarded"}


async def test_of_two_at_once_one_is_posted_and_the_other_is_rejected(house: House) -> None:
    """Both are accepted while nothing is posted: the posting decides."""
    async with shop(house) as opened:
        acme = await opened.caller(await register(house))
        ids = [(await award(acme, key, bought())).json()["award_id"] for key in ("a", "b")]
        async with house.running("awarder"):

            async def states() -> list[dict[str, Any]]:
                return [(await acme.get(f"/v1/awards/{each}")).json() for each in ids]

            async def decided() -> bool:
                return all(each["status"] != "queued" for each in await states())

            await until(decided)
            told_of = sorted((each["status"], each.get("reason", "")) for each in await states())
            assert told_of == [("posted", ""), ("rejected", "already-awarded")]
            lost = next(each["award_id"] for each in await states() if each["status"] == "rejected")
            key = "ab"[ids.index(lost)]
            assert told(await award(acme, key, bought(), Prefer="wait=10")) == AWARDED


@pytest.mark.long
async def test_what_the_stream_brought_is_not_awarded_again(house: House) -> None:
    """Nor the other way round; and a refund on the stream takes back what a partner's award has posted."""
    key = await register(house, sources=("rides", "meals"))
    streamed = completed(1)
    async with house.running("calculator", "retrier"), shop(house, "awarder") as opened:
        acme = await opened.caller(key)
        await house.produce([streamed])
        await until(lambda: has(house.pool, 1))
        names = ("transaction_id", "source", "country", "vertical", "payment_type", "amount", "currency", "occurred_at")
        of_stream = {"member_id": streamed["member_id"], "transaction": {name: streamed[name] for name in names}}
        assert told(await award(acme, "a", of_stream)) == AWARDED
        sent = completed(2)
        first = {"member_id": sent["member_id"], "transaction": {name: sent[name] for name in names}}
        await posted(acme, "b", first)
        await house.produce([sent, sent | {"type": "transaction.refunded", "refund_id": "R-1"}])
        await until(lambda: has(house.pool, 3))
    rows = await house.pool.fetch("select key, points, reverses from transfer where member_id = $1", sent["member_id"])
    by_key = {row["key"]: (row["points"], row["reverses"]) for row in rows}
    points = by_key["api:acme:b"][0]
    assert points > 0
    assert by_key["refund:rides:R-1"] == (-points, "api:acme:b")
    assert await house.reasons() == {}


@pytest.mark.long
@pytest.mark.parametrize(
    ("sources", "source", "allowed"),
    [
        ((), None, True),
        ((), "acme", True),
        ((), "rides", False),
        (("rides",), "rides", True),
        (("rides",), "meals", False),
        (None, "meals", True),  # a partner from before sources were asked for
    ],
)
async def test_the_sources_that_a_partner_may_name(
    house: House, open_shop: Shop, sources: tuple[str, ...] | None, source: str | None, *, allowed: bool
) -> None:
    acme = await open_shop.caller(await register(house, sources=sources))
    body = bought() if source is None else bought(source=source)
    for path in ("/v1/awards", "/v1/quotes"):
        answer = await acme.post(path, json=body, headers={"Idempotency-Key": "a"})
        if allowed:
            assert answer.is_success, answer.text
        else:
            assert told(answer) == (403, "source-not-allowed")
            assert answer.json()["errors"][0]["pointer"] == "/transaction/source"


async def has(pool: Pool, transfers: int) -> bool:
    return int(await pool.fetchval("select count(*) from transfer")) >= transfers
