"""A member's links to partners, over HTTP."""

from collections.abc import AsyncIterator
from typing import Final, NamedTuple

import httpx
import orjson
import pytest

from abacus.api import exchange_links
from abacus.core.clock import SystemClock
from abacus.exchanges.types import Match
from abacus.people.store.audit import log
from abacus.platform.postgres import Pool
from abacus.pricing.store.cards import CardStore
from tests.support.exchange_door import ExchangeDoor, exchange_door
from tests.support.exchanges import CARDS, NOW, AskedPartner, Told, enter_partner, linking, run_programme
from tests.support.fixed_clock import FixedClock

LINKS: Final = "/v1/members/bob/links"
ASK: Final = {"programme": "skymiles", "number": "SKY 1234 5678", "name": "Bob Tan"}


class Door(NamedTuple):
    """Who calls, the partner that is asked, and what members are told."""

    callers: ExchangeDoor
    partner: AskedPartner
    told: Told

    async def app(self, name: str, *, may_spend: bool = True, may_adjust: bool = False) -> httpx.AsyncClient:
        return await self.callers.partner(name, may_spend=may_spend, may_adjust=may_adjust)

    async def person(self, name: str, *roles: str) -> httpx.AsyncClient:
        return await self.callers.person(name, *roles)


@pytest.fixture
async def door(pool: Pool) -> AsyncIterator[Door]:
    await CardStore(pool).publish(CARDS["SG"].card, by="ann", now=NOW)
    await enter_partner(pool, SystemClock())
    partner, told = AskedPartner(), Told()
    desk = linking(pool, FixedClock(NOW), await run_programme(pool), partner=partner, told=told)
    async with exchange_door(pool, [exchange_links.router], desk) as callers:
        yield Door(callers, partner, told)


def problem(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, str(answer.json()["type"]).removeprefix("/problems/")


async def test_a_member_links_by_a_code_is_seen_and_unlinks(door: Door) -> None:
    app = await door.app("app")
    asked = await app.post(LINKS, json={**ASK, "send_code": True})
    assert (asked.status_code, asked.json()["number"], asked.json()["status"]) == (201, "…5678", "asked")
    one = f"{LINKS}/{asked.json()['link_id']}"
    verified = await app.post(f"{one}/verify", json={"code": door.told.code})
    assert (verified.status_code, verified.json()["status"], door.partner.asked) == (200, "verified", [])
    assert (await app.get(LINKS)).json() == {"member_id": "bob", "links": [verified.json()]}
    again = await app.post(LINKS, json=ASK)
    assert (again.status_code, again.json()) == (201, verified.json())
    assert "1234" not in str([verified.json(), again.json()])
    assert problem(await app.post("/v1/members/kim/links", json=ASK)) == (409, "number-linked")
    ended = await app.delete(one)
    assert (ended.status_code, ended.json()["status"]) == (200, "ended")
    assert (await app.delete(one)).json() == ended.json()
    assert problem(await app.post(f"{one}/verify", json={})) == (409, "no-link")


async def test_the_partner_says_that_the_name_is_nearly_right(door: Door) -> None:
    app = await door.app("app")
    door.partner.says = Match.NEAR
    one = f"{LINKS}/{(await app.post(LINKS, json=ASK)).json()['link_id']}"
    refused = await app.post(f"{one}/verify", json={})
    assert (refused.status_code, refused.json()["status"], refused.json()["reason"]) == (200, "refused", "name-near")
    door.partner.says = Match.MATCH
    anew = (await app.post(LINKS, json={**ASK, "name": "Bob Tan Wei"})).json()
    assert (await app.post(f"{LINKS}/{anew['link_id']}/verify", json={})).json()["status"] == "verified"


async def test_bad_input_is_refused_and_too_many_attempts_wait_for_tomorrow(door: Door) -> None:
    app = await door.app("app")
    for body in (
        {},
        {**ASK, "number": "1"},
        {**ASK, "number": "1\n2345"},
        {**ASK, "programme": "?"},
        {**ASK, "more": 1},
    ):
        assert problem(await app.post(LINKS, json=body)) == (422, "invalid")
    assert problem(await app.post(LINKS, json={**ASK, "programme": "other"})) == (409, "programme-closed")
    one = f"{LINKS}/{(await app.post(LINKS, json=ASK)).json()['link_id']}"
    assert problem(await app.post(f"{one}/verify", json={"code": "1"})) == (422, "invalid")
    assert problem(await app.post(f"{one}/verify", json={"code": "123456"})) == (409, "code-over")
    for _ in range(9):
        assert (await app.post(LINKS, json=ASK)).status_code == 201
    last = await app.post(LINKS, json=ASK)
    assert (problem(last), int(last.headers["Retry-After"]) > 0) == ((429, "too-many-attempts"), True)


async def test_who_may_link_and_who_sees_what(door: Door) -> None:
    app, poor = await door.app("app"), await door.app("poor", may_spend=False)
    ann, vic, eli = [
        await door.person(*each) for each in (("ann", "support:SG"), ("vic", "viewer:SG"), ("eli", "support:ID"))
    ]
    one = f"{LINKS}/{(await app.post(LINKS, json=ASK)).json()['link_id']}"
    assert problem(await poor.post(LINKS, json=ASK)) == (403, "spending-not-allowed")
    assert problem(await vic.post(LINKS, json=ASK)) == problem(await eli.post(LINKS, json=ASK)) == (403, "role-needed")
    seen = [len((await each.get(LINKS)).json()["links"]) for each in (app, poor, ann, vic, eli)]
    assert seen == [1, 0, 1, 1, 0]
    assert problem(await app.delete(one.replace("bob", "kim"))) == (404, "not-found")
    assert problem(await eli.delete(one)) == (404, "not-found")
    assert (await ann.delete(one)).json()["status"] == "ended"


async def test_a_link_is_changed_by_who_asked_for_it(door: Door) -> None:
    app, other, house = await door.app("app"), await door.app("other"), await door.app("house", may_adjust=True)
    one = f"{LINKS}/{(await app.post(LINKS, json=ASK)).json()['link_id']}"
    assert len((await other.get(LINKS)).json()["links"]) == 1
    for refused in (await other.delete(one), await other.post(f"{one}/verify", json={"code": "123456"})):
        assert problem(refused) == (403, "adjustments-not-allowed")
    assert (await house.delete(one)).json()["status"] == "ended"


async def test_what_a_person_does_to_a_link_is_in_the_log_of_its_country(door: Door, pool: Pool) -> None:
    ann = await door.person("ann", "support:SG")
    door.partner.says = Match.NONE
    one = f"{LINKS}/{(await ann.post(LINKS, json=ASK)).json()['link_id']}"
    assert (await ann.post(f"{one}/verify", json={})).json()["status"] == "refused"
    door.partner.says = Match.MATCH
    two = f"{LINKS}/{(await ann.post(LINKS, json=ASK)).json()['link_id']}"
    await ann.post(f"{two}/verify", json={})
    await ann.delete(two)
    said = [orjson.loads(each.details) for each in await log(pool, subjects=["member:bob"], countries=["SG"])]
    assert sorted((each["did"], each.get("reason", "")) for each in said) == [
        ("link", ""),
        ("link", ""),
        ("unlink", "unlinked"),
        ("verify-link", ""),
        ("verify-link", "account-unknown"),
    ]
