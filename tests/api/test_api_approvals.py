"""What takes two people over the API: adjustments, reversals; and those who may not be one of the two."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.support.house import House
from tests.support.outcomes import verified
from tests.support.shop import Shop, award, register, shop
from tests.support.staff import hire

pytestmark = pytest.mark.once

LARGE: dict[str, Any] = {
    "points": 10_000_000,
    "reason": "Lost account found",
    "country": "SG",
    "new_member": True,
}


@pytest.fixture
async def open_shop(house: House) -> AsyncIterator[Shop]:
    limits = {"adjustment_limit": 10_000, "reversal_limit": 50}
    async with shop(house, "awarder", settings=house.settings.model_copy(update=limits)) as it:
        yield it


async def person(house: House, opened: Shop, name: str, *roles: str) -> httpx.AsyncClient:
    return await opened.caller(await hire(house.pool, name, *roles))


async def order(caller: httpx.AsyncClient, path: str, key: str, body: dict[str, Any] | None = None) -> httpx.Response:
    return await caller.post(f"/v1/{path}", json=body or {}, headers={"Idempotency-Key": key})


async def adjust(caller: httpx.AsyncClient, key: str, **body: Any) -> httpx.Response:
    return await order(caller, "members/bob/adjustments", key, LARGE | body)


async def decide(caller: httpx.AsyncClient, request: dict[str, Any], how: str = "approve") -> httpx.Response:
    body = {"digest": request["digest"]} if how == "approve" else {"reason": "No complaint"}
    return await caller.post(f"/v1/approvals/{request['approval_id']}/{how}", json=body)


def kind(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, str(answer.json()["type"]).removeprefix("/problems/")


async def balance(house: House) -> int:
    return int(await house.pool.fetchval("select coalesce(sum(balance), 0) from account"))


@pytest.mark.long
async def test_the_attack_of_one_who_calls_himself_many(house: House, open_shop: Shop) -> None:
    """One partner key posted +9,999, asked for +10,000,000 as `ann` and approved it as `mallory`."""
    acme = await open_shop.caller(await register(house, may_adjust=True))
    other = await open_shop.caller(await register(house, "other", may_adjust=True))
    ann, ben = [await person(house, open_shop, name, "support", "approver") for name in ("ann", "ben")]
    small = await adjust(acme, "a-1", points=9_999, actor="ann")
    assert (small.status_code, small.json()["actor"]) == (201, "acme")
    assert (small.json()["explanation"]["by"], small.json()["explanation"]["on_behalf_of"]) == ("acme", "ann")
    request = (await adjust(acme, "a-2", actor="ann")).json()
    assert (request["status"], request["asked_by"]) == ("pending", "partner:acme")
    for caller in (acme, other):
        for path in (f"adjustments/{request['adjustment_id']}", f"approvals/{request['approval_id']}"):
            for name in ("mallory", "ann\u200b", "\u0430nn", "\uff41nn", "ben"):
                answer = await caller.post(f"/v1/{path}/approve", json={"actor": name, "digest": request["digest"]})
                assert kind(answer) == (403, "person-needed")
            assert kind(await caller.post(f"/v1/{path}/reject", json={"reason": "no"})) == (403, "person-needed")
    named = await ann.post(
        f"/v1/approvals/{request['approval_id']}/approve", json={"actor": "x", "digest": request["digest"]}
    )
    assert kind(named) == (422, "invalid")
    assert await balance(house) == 9_999
    assert (await decide(ben, request)).json()["decided_by"] == "person:ben"
    assert await balance(house) == 10_009_999
    # And a person alone is one person, too.
    own = (await adjust(ann, "a-3")).json()
    assert kind(await decide(ann, own)) == (403, "second-person-needed")
    assert (await decide(ben, own)).status_code == 200
    last = await house.pool.fetchrow("select actor, source, key, explanation from transfer order by seq desc limit 1")
    assert (last["actor"], last["source"], last["key"]) == ("ann", "person:ann", "person:ann:a-3")
    assert b'"approved_by":"ben"' in last["explanation"]
    assert await verified(house)


@pytest.mark.long
async def test_a_partner_splits_in_vain(house: House) -> None:
    limits = {"adjustment_limit": 10_000, "alone_actor_day": 50_000, "alone_member_day": 30_000}
    async with shop(house, "awarder", settings=house.settings.model_copy(update=limits)) as opened:
        acme = await opened.caller(await register(house, may_adjust=True))
        answers = [await adjust(acme, f"a-{number}", points=10_000, actor="ann") for number in range(4)]
        assert [each.status_code for each in answers] == [201, 201, 201, 202]
        answers = await asyncio.gather(
            *(order(acme, f"members/m{n}/adjustments", f"b-{n}", LARGE | {"points": 10_000}) for n in range(26))
        )
        assert Counter(each.status_code for each in answers) == {201: 2, 202: 24}
        assert await balance(house) == 50_000
        assert await verified(house)


@pytest.mark.long
async def test_only_an_approver_of_the_country_approves_what_it_has_seen(house: House, open_shop: Shop) -> None:
    ann = await person(house, open_shop, "ann", "support")
    request = (await adjust(ann, "a-1")).json()
    for roles, outcome in (
        (("support",), (403, "role-needed")),
        (("approver:ID",), (404, "not-found")),
        (("approver:ID", "viewer:SG"), (403, "role-needed")),
    ):
        caller = await person(house, open_shop, f"p{len(roles)}{outcome[0]}", *roles)
        assert kind(await decide(caller, request)) == outcome
    ben = await person(house, open_shop, "ben", "approver:SG")
    path = f"/v1/approvals/{request['approval_id']}"
    assert kind(await ben.post(f"{path}/approve", json={"digest": "0" * 16})) == (409, "digest-mismatch")
    assert kind(await ben.post(f"{path}/approve", json={"digest": "short"})) == (422, "invalid")
    assert kind(await ben.post(f"{path}/approve", json={})) == (422, "invalid")
    assert kind(await ben.post(f"{path}/approve", content=b"{")) == (415, "unsupported-media-type")
    shown = (await ben.get(path)).json()
    assert (shown["document"]["points"], shown["digest"]) == (10_000_000, request["digest"])
    assert (await ben.post(f"{path}/approve", json={"digest": shown["digest"][:8]})).json()["status"] == "done"
    assert kind(await decide(ben, request, "reject")) == (409, "approval-decided")


@pytest.mark.long
async def test_a_person_says_that_a_member_is_new(house: House, open_shop: Shop) -> None:
    """A partner need not, as before."""
    acme = await open_shop.caller(await register(house, may_adjust=True))
    ann = await person(house, open_shop, "ann", "support")
    for said in ({}, {"new_member": False}):
        mistyped = await order(
            ann, "members/eev/adjustments", "a-1", {"points": 5, "reason": "x", "country": "SG"} | said
        )
        assert kind(mistyped) == (404, "not-found")
        assert mistyped.json()["errors"][0]["pointer"] == "/new_member"
    assert await house.pool.fetchval("select count(*) from account") == 0
    for member, caller, said in (("eve", ann, {"new_member": True}), ("bob", acme, {})):
        body = {"points": 5, "reason": "x", "country": "SG"} | said
        assert (await order(caller, f"members/{member}/adjustments", f"n-{member}", body)).status_code == 201
    assert (await order(ann, "members/bob/adjustments", "a-2", {"points": 5, "reason": "x"})).status_code == 201


@pytest.mark.long
async def test_who_lacks_the_role_is_told_so_whatever_there_is(house: House, open_shop: Shop) -> None:
    """With the role in another country only, there is nothing to be told of this one."""
    acme = await open_shop.caller(await register(house))
    await award(acme, "start", {"member_id": "bob", "country": "SG", "points": 100, "reason": "Hi"}, Prefer="wait=10")
    viewer = await person(house, open_shop, "vic", "viewer")
    elsewhere = await person(house, open_shop, "eli", "support:ID")
    asked: dict[str, dict[str, Any]] = {
        "members/bob/adjustments": {"points": 5, "reason": "sorry"},
        "members/nobody/adjustments": {"points": 5, "reason": "sorry"},
        "transfers/bob:GRP:1/reverse": {"points": 5},
        "transfers/nobody:GRP:1/reverse": {"points": 5},
    }
    for number, (path, body) in enumerate(asked.items()):
        assert kind(await order(viewer, path, f"v-{number}", body)) == (403, "role-needed")
        assert kind(await order(elsewhere, path, f"e-{number}", body)) == (404, "not-found")


@pytest.mark.long
async def test_the_addresses_of_adjustments_answer_people(house: House, open_shop: Shop) -> None:
    acme = await open_shop.caller(await register(house, may_adjust=True))
    ben = await person(house, open_shop, "ben", "approver")
    request = (await adjust(acme, "a-1", actor="ann")).json()
    assert (await adjust(acme, "a-1", actor="ann")).json() == request
    assert kind(await adjust(acme, "a-1", actor="ann", points=10_000_001)) == (422, "idempotency-key-reused")
    (listed,) = (await acme.get("/v1/adjustments", params={"status": "pending"})).json()["adjustments"]
    assert listed == request
    assert (await ben.get("/v1/adjustments")).json()["adjustments"] == [request]
    other = await open_shop.caller(await register(house, "other", may_adjust=True))
    assert (await other.get("/v1/adjustments")).json()["adjustments"] == []
    path = f"/v1/adjustments/{request['adjustment_id']}"
    first = await ben.post(f"{path}/approve", json={"digest": request["digest"]})
    assert (first.status_code, first.json()["points"], first.json()["kind"]) == (201, 10_000_000, "adjust")
    assert (await ben.post(f"{path}/approve", json={"digest": request["digest"]})).json() == first.json()
    second = (await adjust(acme, "a-2", actor="ann")).json()
    rejected = await ben.post(f"/v1/adjustments/{second['adjustment_id']}/reject", json={"reason": "No complaint"})
    assert (rejected.json()["status"], rejected.json()["note"]) == ("rejected", "No complaint")
    assert (await adjust(acme, "a-2", actor="ann")).json()["status"] == "rejected"
    assert await balance(house) == 10_000_000


@pytest.mark.long
async def test_what_the_account_cannot_take_is_void(house: House, open_shop: Shop) -> None:
    ann, ben = [await person(house, open_shop, name, "support", "approver") for name in ("ann", "ben")]
    await adjust(ann, "a-0", points=5)
    request = (await adjust(ann, "a-1", points=-10_001)).json()
    assert kind(await decide(ben, request)) == (409, "insufficient-points")
    assert (await ben.get(f"/v1/approvals/{request['approval_id']}")).json()["status"] == "void"
    waiting = (await adjust(ann, "k", points=20_000)).json()
    assert await balance(house) == 5
    withdrawn = await decide(ann, waiting, "reject")
    assert (withdrawn.json()["status"], withdrawn.json()["decided_by"]) == ("rejected", "person:ann")


@pytest.mark.long
async def test_an_adjustment_whose_key_was_used_meanwhile_is_not_posted(house: House, open_shop: Shop) -> None:
    acme = await open_shop.caller(await register(house, may_adjust=True))
    ben = await person(house, open_shop, "ben", "approver")
    await award(acme, "start", {"member_id": "bob", "country": "SG", "points": 100, "reason": "Hi"}, Prefer="wait=10")
    request = (await adjust(acme, "k-1", actor="ann")).json()
    assert (await order(acme, "members/bob/spend", "k-1", {"points": 1})).status_code == 201
    assert kind(await decide(ben, request)) == (422, "idempotency-key-reused")
    (closed,) = (await acme.get("/v1/adjustments")).json()["adjustments"]
    assert closed["status"] == "void"
    assert await balance(house) == 99


async def test_the_key_of_an_award_on_its_way_is_not_used_for_an_adjustment(house: House) -> None:
    async with shop(house) as opened:  # without an awarder, so the award is not posted yet
        acme = await opened.caller(await register(house, may_adjust=True))
        ben = await person(house, opened, "ben", "approver")
        assert (await award(acme, "k")).status_code == 202
        assert kind(await adjust(acme, "k", points=1)) == (422, "idempotency-key-reused")
        request = (await adjust(acme, "k")).json()
        assert kind(await decide(ben, request)) == (422, "idempotency-key-reused")
        assert (await ben.get(f"/v1/approvals/{request['approval_id']}")).json()["status"] == "void"


@pytest.mark.long
async def test_much_of_one_transfer_is_not_taken_back_by_one_alone(house: House, open_shop: Shop) -> None:
    """Up to 50 points of a transfer, in however many parts; refunds of the stream need nobody."""
    acme = await open_shop.caller(await register(house, may_adjust=True))
    ben = await person(house, open_shop, "ben", "approver", "support")
    await award(acme, "start", {"member_id": "bob", "country": "SG", "points": 100, "reason": "Hi"}, Prefer="wait=10")
    path = "transfers/bob:GRP:1/reverse"
    assert (await order(acme, path, "r-1", {"points": 30})).status_code == 201
    request = await order(acme, path, "r-2", {"points": 21})
    assert (request.status_code, request.json()["status"], request.json()["kind"]) == (202, "pending", "reversal")
    assert (await order(acme, path, "r-2", {"points": 21})).json() == request.json()
    assert kind(await order(acme, path, "r-2", {"points": 22})) == (422, "idempotency-key-reused")
    assert (await order(acme, path, "r-3", {"points": 20})).status_code == 201
    rest = (await order(acme, path, "r-4")).json()
    assert rest["points"] == 50
    assert kind(await acme.post(f"/v1/approvals/{rest['approval_id']}/approve", json={"digest": rest["digest"]})) == (
        403,
        "person-needed",
    )
    done = await decide(ben, request.json())
    assert done.json()["status"] == "done"
    # The rest was 50 points when it was asked for; 29 are left, and nobody approved those.
    assert kind(await decide(ben, rest)) == (409, "reversed-already")
    assert await balance(house) == 29
    posted = await order(acme, path, "r-2", {"points": 21})
    assert (posted.status_code, posted.json()["explanation"]["approved_by"]) == (201, "ben")
    own = (await order(ben, path, "r-5", {"points": 29})).json()
    assert kind(await decide(ben, own)) == (403, "second-person-needed")
    assert await verified(house)


async def test_of_ten_who_decide_at_once_one_wins(house: House, open_shop: Shop) -> None:
    ann = await person(house, open_shop, "ann", "support")
    crowd = [await person(house, open_shop, f"p{number}", "approver") for number in range(6)]
    request = (await adjust(ann, "a-1")).json()
    answers = await asyncio.gather(
        *(decide(caller, request, "approve" if place % 2 else "reject") for place, caller in enumerate(crowd))
    )
    assert Counter(answer.status_code for answer in answers)[200] == 1
    assert {kind(answer) for answer in answers if answer.status_code != 200} <= {(409, "approval-decided")}
    last = (await crowd[0].get(f"/v1/approvals/{request['approval_id']}")).json()
    assert await balance(house) == (10_000_000 if last["status"] == "done" else 0)


@pytest.mark.long
async def test_people_and_partners_each_have_their_routes(house: House, open_shop: Shop) -> None:
    acme = await open_shop.caller(await register(house, may_adjust=True))
    ann = await person(house, open_shop, "ann", "support:ID")
    for answer in (
        await award(ann, "k"),
        await order(ann, "members/bob/spend", "k", {"points": 1}),
        await ann.get("/v1/members/bob"),
    ):
        assert kind(answer) == (403, "partner-needed")
    for path in ("approvals", "approvals/6f1f2f39-3a4e-5d0a-9a55-5b1a6a0c7a11"):
        assert kind(await acme.get(f"/v1/{path}")) == (403, "person-needed")
    assert kind(await adjust(ann, "a-1")) == (403, "role-needed")
    assert kind(await adjust(ann, "a-1", actor="ann")) == (422, "invalid")
    stranger = await open_shop.caller("abp_" + "a" * 55)
    assert kind(await stranger.get("/v1/approvals")) == (401, "unauthorized")


@pytest.mark.long
async def test_a_token_is_refused_within_seconds_of_its_end(house: House, open_shop: Shop) -> None:
    ann = await person(house, open_shop, "ann", "viewer")
    assert (await ann.get("/v1/approvals")).json() == {"approvals": []}
    await house.pool.execute("update person_token set revoked_at = now()")
    async with asyncio.timeout(10):
        while (await ann.get("/v1/approvals")).status_code != 401:  # noqa: ASYNC110  # the API reads it again by itself
            await asyncio.sleep(0.2)
