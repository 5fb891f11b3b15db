"""The partner award API on the real stack: awards, their answers, repeated requests, and reading them back."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from urllib.parse import quote

import pytest

from abacus.cli.examples import example_cards
from abacus.core.clock import SystemClock
from abacus.core.ids import award_id
from abacus.core.points import Multiplier
from abacus.pricing.store.cards import CardStore
from tests.support.house import House, until
from tests.support.problems import kind
from tests.support.shop import GRANT, MEAL, Shop, award, register, shop


@pytest.fixture
async def open_shop(house: House) -> AsyncIterator[Shop]:
    async with shop(house, "awarder") as opened:
        yield opened


@pytest.mark.long
async def test_an_award_is_accepted_posted_and_read_back(house: House, open_shop: Shop) -> None:
    acme = await open_shop.caller(await register(house))
    accepted = await award(acme, "a-1")
    assert accepted.status_code == 202
    first = accepted.json()
    assert first["award_id"] == str(award_id("api:acme:a-1"))
    assert (first["points"], first["status"]) == (100, "queued")
    assert first["explanation"] == {"v": 1, "granted_by": "acme", "reason": "Welcome", "card": "SG@1", "points": 100}

    async def posted() -> bool:
        state = (await acme.get(f"/v1/awards/{first['award_id']}")).json()
        return bool(state["status"] == "posted" and state["balance"] == 100)

    await until(posted)
    member = (await acme.get("/v1/members/bob")).json()
    (account,) = member["accounts"]
    assert member["member_id"] == "bob"
    assert account.pop("expires_on") > datetime.now(UTC).date().isoformat()
    assert account == {"program": "GRP", "balance": 100, "held": 0, "pending": 0, "available": 100, "tier": "member"}
    for statement, tier in (
        ("insert into account_tier (member_id, program, tier) values ('bob', 'GRP', 'silver')", "silver"),
        ("insert into membership values ('bob', 'GRP', 'gold', 'test', 'test', now())", "gold"),
    ):
        await house.pool.execute(statement)
        assert (await acme.get("/v1/members/bob")).json()["accounts"][0]["tier"] == tier
    (transfer,) = (await acme.get("/v1/members/bob/transfers")).json()["transfers"]
    assert (transfer["key"], transfer["points"], transfer["kind"]) == ("api:acme:a-1", 100, "earn")
    assert transfer["explanation"] == first["explanation"]


@pytest.mark.long
async def test_a_transaction_is_computed_and_waited_for(house: House, open_shop: Shop) -> None:
    await house.pool.execute(
        "insert into membership (member_id, program, tier, reason, actor, set_at)"
        " values ('bob', 'GRP', 'platinum', 'test', 'test', now())"
    )
    acme = await open_shop.caller(await register(house))
    body = {"member_id": "bob", "transaction": MEAL}
    answer = await award(acme, "t-1", body, Prefer="respond-async, wait=10")
    assert answer.status_code == 201, answer.text
    assert answer.headers["preference-applied"] == "wait=10"
    assert (answer.json()["points"], answer.json()["balance"], answer.json()["status"]) == (180, 180, "posted")
    assert answer.json()["explanation"]["product"] == "180.00"
    headers = [("Idempotency-Key", "t-1"), ("Prefer", "respond-async"), ("Prefer", "wait=10")]
    again = await acme.post("/v1/awards", json=body, headers=headers)
    assert (again.status_code, again.headers["idempotency-replayed"]) == (201, "true")
    assert again.json() == answer.json()


@pytest.mark.long
async def test_a_transaction_tells_the_offer_that_was_redeemed_with_it(house: House, open_shop: Shop) -> None:
    """Here there is none of that id, which the award and its transfer say."""
    acme, id_ = await open_shop.caller(await register(house)), "03d1a7f0-51b8-8b44-9f2b-1c9f6d1f2a35"
    body = {"member_id": "bob", "transaction": MEAL | {"redemption_id": id_}}
    answer = await award(acme, "t-1", body, Prefer="wait=10")
    assert (answer.status_code, answer.json()["explanation"]["redemption"]) == (201, id_)
    (transfer,) = (await acme.get("/v1/members/bob/transfers")).json()["transfers"]
    followed = (await acme.get(f"/v1/awards/{answer.json()['award_id']}")).json()
    told = {"redemption_id": id_, "faults": [f"neither an offer nor a reward was redeemed for the member as {id_}"]}
    assert (transfer["redeemed"], answer.json()["redeemed"], followed) == (told, told, answer.json())


async def test_a_quote_awards_nothing(house: House, open_shop: Shop) -> None:
    acme = await open_shop.caller(await register(house))
    quote = await acme.post("/v1/quotes", json={"member_id": "bob", "transaction": MEAL})
    assert (quote.status_code, quote.json()["points"]) == (200, 60)
    assert (await acme.get("/v1/members/bob")).status_code == 404
    assert await house.pool.fetchval("select count(*) from partner_award") == 0


@pytest.mark.long
async def test_a_key_means_one_thing_for_ever(house: House, open_shop: Shop) -> None:
    acme = await open_shop.caller(await register(house, sources=("meals",)))
    bits = await open_shop.caller(await register(house, "bits"))
    first = await award(acme, "k")
    for _ in range(2):
        again = await award(acme, "k")
        assert (again.status_code, again.headers["idempotency-replayed"]) == (202, "true")
        assert again.json() == first.json()
        other = await award(acme, "k", {**GRANT, "points": 5})
        assert (other.status_code, kind(other)) == (422, "idempotency-key-reused")
        assert other.json()["detail"] == "points was 100, now it is 5"
        await until(lambda: _transfers(house, 1))
    for facts, key in (({"transaction_id": "A-2"}, "txn:acme:A-2"), ({"source": "meals"}, "txn:meals:A-1")):
        body = {"member_id": "bob", "transaction": MEAL}
        assert (await award(acme, "t", body)).status_code == 202
        other = await award(acme, "t", {**body, "transaction": {**MEAL, **facts}})
        assert (other.status_code, kind(other)) == (422, "idempotency-key-reused")
        assert other.json()["detail"] == f"transaction was 'txn:acme:A-1', now it is '{key}'"
    dearer = await award(acme, "t", {"member_id": "bob", "transaction": {**MEAL, "amount": "99.00"}})
    assert dearer.json()["detail"] == f"amount was {MEAL['amount']}, now it is 99.00"
    await until(lambda: _transfers(house, 2))
    # The key is the partner's own.
    assert "idempotency-replayed" not in (await award(bits, "k")).headers
    await until(lambda: _transfers(house, 3))


@pytest.mark.long
async def test_fifty_requests_with_one_key_are_one_award(house: House, open_shop: Shop) -> None:
    acme = await open_shop.caller(await register(house))
    answers = await asyncio.gather(*(award(acme, "k") for _ in range(50)))
    statuses = Counter(answer.status_code for answer in answers)
    assert set(statuses) <= {202, 409}
    assert sum(answer.status_code == 202 and "idempotency-replayed" not in answer.headers for answer in answers) == 1
    for answer in answers:
        if answer.status_code == 409:
            assert (kind(answer), answer.headers["retry-after"]) == ("key-in-flight", "1")
    await until(lambda: _transfers(house, 1))
    assert (await award(acme, "k")).headers["idempotency-replayed"] == "true"
    assert (await acme.get("/v1/members/bob")).json()["accounts"][0]["balance"] == 100


@pytest.mark.long
async def test_one_key_in_two_processes_is_one_award(house: House, open_shop: Shop) -> None:
    key = await register(house)
    async with shop(house) as second:
        callers = [await open_shop.caller(key), await second.caller(key)]
        bodies = [GRANT, {**GRANT, "points": 5}]
        answers = await asyncio.gather(
            *(award(callers[n % 2], f"k{n // 4}", bodies[n // 2 % 2]) for n in range(80)),
        )
        assert {answer.status_code for answer in answers} <= {202, 409, 422}
        fresh = [a for a in answers if a.status_code == 202 and "idempotency-replayed" not in a.headers]
        assert len(fresh) == 20
        await until(lambda: _transfers(house, 20))
        assert await house.reasons() == {}


async def test_a_batch_tells_of_each(house: House, open_shop: Shop) -> None:
    acme = await open_shop.caller(await register(house, countries=("SG",)))
    await award(acme, "b-0")
    items: list[Any] = [
        {**GRANT, "idempotency_key": "b-0"},
        {**GRANT, "idempotency_key": "b-1", "member_id": "eve"},
        {"member_id": "eve", "transaction": MEAL, "idempotency_key": "b-2"},
        {**GRANT, "idempotency_key": "b-3", "country": "ID"},
        {**GRANT, "idempotency_key": "b-4", "points": 1.5},
        {**GRANT, "points": 7},
        {**GRANT, "idempotency_key": "b-0", "points": 7},
        "nonsense",
    ]
    answer = await acme.post("/v1/awards/batch", json={"awards": items})
    assert answer.status_code == 200
    results = answer.json()["results"]
    assert [result["outcome"] for result in results[1:6]] == ["accepted", "accepted", "refused", "refused", "refused"]
    assert results[2]["award"]["points"] == 60
    assert results[3]["problem"]["type"] == "/problems/country-not-allowed"
    assert results[4]["problem"]["errors"][0]["pointer"] == "/awards/4/points"
    assert results[5]["problem"]["errors"][0]["pointer"] == "/awards/5/idempotency_key"
    assert results[5]["idempotency_key"] is None
    # Of the two requests with the first key one came first; the other met it in flight or finished.
    assert {results[0]["outcome"], results[6]["outcome"]} <= {"replayed", "refused"}
    await until(lambda: _transfers(house, 3))


async def test_a_bad_item_never_takes_the_answer_of_its_neighbours(house: House, open_shop: Shop) -> None:
    acme = await open_shop.caller(await register(house))
    body = b'{"awards": [{"idempotency_key": "ok", "member_id": "bob", "country": "SG", "points": 1, "reason": "x"},'
    body += b' {"idempotency_key": "\\ud800"}, null, {"\\ud800": 1}]}'
    answer = await acme.post("/v1/awards/batch", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 200
    assert [result["outcome"] for result in answer.json()["results"]] == ["accepted", "refused", "refused", "refused"]


@pytest.mark.long
async def test_an_id_that_deceives_is_no_new_members(house: House, open_shop: Shop) -> None:
    """A member of before keeps it."""
    acme = await open_shop.caller(await register(house, may_adjust=True))
    await house.pool.execute("insert into account (member_id, program, country) values ('=old', 'GRP', 'SG')")
    for member in ("=new", "ne\u200bw"):
        body = {**GRANT, "member_id": member}
        refused = await award(acme, f"a-{member[:1]}", body)
        assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/member_id")
        assert kind(await acme.post("/v1/quotes", json=body)) == "invalid"
        answer = await acme.post("/v1/awards/batch", json={"awards": [{**body, "idempotency_key": "b"}, "nonsense"]})
        assert answer.json()["results"][0]["problem"]["errors"][0]["pointer"] == "/awards/0/member_id"
        adjusting = {"points": 5, "reason": "x", "country": "SG"}
        headers = {"Idempotency-Key": f"m-{member[:1]}"}
        moved = await acme.post(f"/v1/members/{quote(member)}/adjustments", json=adjusting, headers=headers)
        assert (moved.status_code, kind(moved)) == (422, "invalid")
    assert (await award(acme, "c", {**GRANT, "member_id": "=old"}, Prefer="wait=10")).status_code == 201
    answer = await acme.post(
        "/v1/awards/batch", json={"awards": [{**GRANT, "member_id": "=old", "idempotency_key": "d"}]}
    )
    assert answer.json()["results"][0]["outcome"] == "accepted"


@pytest.mark.long
async def test_a_member_whose_id_holds_a_slash(house: House, open_shop: Shop) -> None:
    acme = await open_shop.caller(await register(house))
    assert (await award(acme, "k", {**GRANT, "member_id": "a/b"}, Prefer="wait=10")).status_code == 201
    assert (await acme.get("/v1/members/a%2Fb")).json()["member_id"] == "a/b"
    assert len((await acme.get("/v1/members/a%2Fb/transfers")).json()["transfers"]) == 1


@pytest.mark.long
async def test_a_thousand_in_a_batch(house: House, open_shop: Shop) -> None:
    acme = await open_shop.caller(await register(house))
    items = [{**GRANT, "idempotency_key": f"b-{n}", "member_id": f"m{n}"} for n in range(1001)]
    many = await acme.post("/v1/awards/batch", json={"awards": items})
    assert (many.status_code, kind(many)) == (422, "invalid")
    answer = await acme.post("/v1/awards/batch", json={"awards": items[:1000]})
    assert Counter(result["outcome"] for result in answer.json()["results"]) == {"accepted": 1000}
    await until(lambda: _transfers(house, 1000))


@pytest.mark.long
async def test_transfers_are_read_page_by_page(house: House, open_shop: Shop) -> None:
    acme = await open_shop.caller(await register(house))
    items = [{**GRANT, "idempotency_key": f"{n}", "country": ("SG", "ID")[n % 2], "points": n + 1} for n in range(7)]
    await acme.post("/v1/awards/batch", json={"awards": items})
    await until(lambda: _transfers(house, 7))
    seen, cursor = [], None
    for _ in range(4):
        page = (
            await acme.get("/v1/members/bob/transfers", params={"limit": 2, **({"cursor": cursor} if cursor else {})})
        ).json()
        seen += [(each["program"], each["seq"]) for each in page["transfers"]]
        cursor = page["next"]
    assert cursor is None
    assert sorted(seen) == [("GRP", 1), ("GRP", 2), ("GRP", 3), ("GRP", 4), ("OVO", 1), ("OVO", 2), ("OVO", 3)]
    for program in ("GRP", "OVO"):
        own = [seq for name, seq in seen if name == program]
        assert own == sorted(own, reverse=True)
    only = (await acme.get("/v1/members/bob/transfers?program=OVO")).json()
    assert [each["seq"] for each in only["transfers"]] == [3, 2, 1]
    assert only["next"] is None


async def test_a_partner_sees_its_own_awards_and_its_countries(house: House, open_shop: Shop) -> None:
    acme = await open_shop.caller(await register(house))
    bits = await open_shop.caller(await register(house, "bits", countries=("ID",)))
    answer = await award(acme, "k", Prefer="wait=10")
    assert answer.status_code == 201
    assert (await acme.get(f"/v1/awards/{answer.json()['award_id']}")).status_code == 200
    hidden = await bits.get(f"/v1/awards/{answer.json()['award_id']}")
    assert (hidden.status_code, kind(hidden)) == (404, "not-found")
    assert (await bits.get("/v1/members/bob")).status_code == 404


async def test_a_partners_own_card(house: House, open_shop: Shop) -> None:
    card = next(card for card in example_cards() if card.scope == "SG")
    own = replace(card, scope="partner:acme", verticals={"food": Multiplier(Decimal(10))})
    await CardStore(house.pool).publish(own, by="tests", now=SystemClock().now())
    key = await register(house, card_scope="partner:acme")
    async with shop(house) as later:  # its cards are read anew
        acme = await later.caller(key)
        quote = (await acme.post("/v1/quotes", json={"member_id": "bob", "transaction": MEAL})).json()
        assert (quote["points"], quote["explanation"]["card"]) == (300, "partner:acme@1")
        unknown = await acme.post("/v1/quotes", json={"member_id": "b", "transaction": {**MEAL, "vertical": "rides"}})
        assert (unknown.status_code, kind(unknown)) == (422, "unknown-vertical")
        assert unknown.json()["errors"][0]["pointer"] == "/transaction/vertical"


@pytest.mark.long
async def test_capabilities(house: House, open_shop: Shop) -> None:
    fixed = await open_shop.caller(await register(house, "fixed", computed_points=False))
    computed = await open_shop.caller(await register(house, "computed", fixed_points=False, countries=("ID",)))
    answers = [
        await award(fixed, "k", {"member_id": "bob", "transaction": MEAL}),
        await award(computed, "k"),
        await award(computed, "k", {"member_id": "bob", "transaction": MEAL}),
    ]
    kinds = ["computed-points-not-allowed", "fixed-points-not-allowed", "country-not-allowed"]
    assert [(answer.status_code, kind(answer)) for answer in answers] == [(403, each) for each in kinds]


async def _transfers(house: House, count: int) -> bool:
    transfers = await house.transfers()
    assert transfers <= count
    return transfers == count
