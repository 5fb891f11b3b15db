"""A member's links to partners, over HTTP."""

from collections.abc import AsyncIterator
from typing import Final

import httpx
import pytest

from abacus.api import exchange_links
from abacus.api.auth import Access
from abacus.api.guarded_app import guarded_app
from abacus.core.clock import SystemClock
from abacus.exchanges.types import Match
from abacus.intake.partners.decide.partner import LIVE_KEY
from abacus.intake.partners.directory import Directory
from abacus.intake.partners.signing_secrets import SigningSecrets
from abacus.intake.partners.store import PartnerStore
from abacus.ledger.types.limits import Limits
from abacus.people.directory import PeopleDirectory
from abacus.people.store.people import PeopleStore
from abacus.platform.encryption import Secrets
from abacus.platform.health import Health
from abacus.platform.postgres import Pool
from abacus.platform.rate_limits.limiter import RateLimiter
from abacus.platform.rate_limits.store import BucketStore
from abacus.platform.rooms import Rooms
from abacus.pricing.store.cards import CardStore
from tests.support.exchanges import CARDS, NOW, AskedPartner, Told, a_partner, enter_partner, linking, run_programme
from tests.support.fixed_clock import FixedClock
from tests.support.staff import hire

CLOCK: Final = SystemClock()
LINKS: Final = "/v1/members/bob/links"
ASK: Final = {"programme": "skymiles", "number": "SKY 1234 5678", "name": "Bob Tan"}


class Door:
    """The routes of links, the partner that is asked, what members are told, and callers."""

    def __init__(self, app: object, pool: Pool, people: PeopleDirectory, partner: AskedPartner, told: Told) -> None:
        self.partner = partner
        self.told = told
        self._app = app
        self._pool = pool
        self._people = people
        self.opened: list[httpx.AsyncClient] = []

    async def app(self, name: str, *, may_spend: bool = True) -> httpx.AsyncClient:
        """A partner that has made an app for members."""
        key = LIVE_KEY.new()
        await PartnerStore(self._pool, CLOCK).create(
            a_partner(name, CLOCK)._replace(may_spend=may_spend), Limits(), key
        )
        return self._caller(key.text)

    async def person(self, name: str, *roles: str) -> httpx.AsyncClient:
        token = await hire(self._pool, name, *roles)
        await self._people.refresh()
        return self._caller(token)

    def _caller(self, key: str) -> httpx.AsyncClient:
        transport = httpx.ASGITransport(self._app)  # type: ignore[arg-type]  # an ASGI application
        headers = {"Authorization": f"Bearer {key}"}
        self.opened.append(httpx.AsyncClient(transport=transport, base_url="http://house", headers=headers))
        return self.opened[-1]


@pytest.fixture
async def door(pool: Pool) -> AsyncIterator[Door]:
    await CardStore(pool).publish(CARDS["SG"].card, by="ann", now=NOW)
    await enter_partner(pool, CLOCK)
    partner, told = AskedPartner(), Told()
    desk = linking(pool, FixedClock(NOW), await run_programme(pool), partner=partner, told=told)
    people, limiter = PeopleDirectory(PeopleStore(pool, CLOCK), CLOCK), RateLimiter(BucketStore(pool), CLOCK)
    access = Access(
        clock=CLOCK,
        directory=Directory(PartnerStore(pool, CLOCK), CLOCK),
        people=people,
        signing_secrets=SigningSecrets(Secrets.of(None)),
        limiter=limiter,
        rooms=Rooms(desk),
    )
    served = guarded_app("Links", "Accounts at partners.", [exchange_links.router], access, Health([]), keys="a key")
    opened = Door(served, pool, people, partner, told)
    yield opened
    for each in opened.opened:
        await each.aclose()
    await limiter.close()


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
