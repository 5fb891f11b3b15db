"""Signing in by a provider of identities: who it vouches for gets in with the roles of its groups, and no lie does."""

import time
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from joserfc.jwk import RSAKey

from abacus.console.entry.decide.claims import ClaimRules, Vouched, read_groups, vouched
from abacus.core.errors import Refused
from abacus.people.decide.names import parse_grants
from abacus.people.store.audit import log
from abacus.people.store.people import PeopleStore
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Pool, nothing_else
from tests.console.desk import Browser, desk
from tests.console.identities import Identities, identities
from tests.support.staff import ADMIN

READING = ClaimRules("email", "groups", read_groups('{"sg-team": ["support:SG", "approver:SG"], "root": ["admin"]}'))
ANN: dict[str, Any] = {"email": "Ann@Example.com", "email_verified": True, "groups": ["sg-team", "unknown"]}


@pytest.fixture
async def provider() -> AsyncIterator[Identities]:
    async with identities() as opened:
        opened.claims = dict(ANN)
        yield opened


async def arrive(browser: Browser, next_: str = "/") -> httpx.Response:
    """Go to the provider, and come back with its answer."""
    return await browser.client.get(await sent_back(browser, next_))


async def sent_back(browser: Browser, next_: str = "/") -> str:
    """The address to which the provider sends the browser back."""
    there = await browser.see(f"/sign-in/provider?next={next_}&zone=Asia/Singapore")
    assert there.status_code == 303
    async with httpx.AsyncClient() as elsewhere:
        return str((await elsewhere.get(there.headers["location"])).headers["location"])


async def test_a_person_of_the_provider_gets_the_roles_of_its_groups(pool: Pool, provider: Identities) -> None:
    async with desk(pool, issuer=provider.issuer, reading=READING) as open_desk:
        ann = await open_desk.browser()
        assert "Sign in with your organisation" in (await ann.see("/sign-in")).text
        entered = await arrive(ann, "/approvals")
        assert (entered.status_code, entered.headers["location"]) == (303, "/approvals")
        me = (await ann.twin("/me")).json()
        assert (me["person_id"], me["roles"]) == ("ann@example.com", ["support:SG", "approver:SG"])
        assert (me["zone"], me["sessions"][0]["way"]) == ("Asia/Singapore", "provider")
        (entry,) = await log(pool, deed=Deed.MANAGE_PEOPLE)
        assert (entry.actor, entry.subject) == ("person:ann@example.com", "person:ann@example.com")
        provider.claims["groups"] = ["root"]
        assert (await arrive(await open_desk.browser())).status_code == 303
        assert (await ann.twin("/me")).json()["roles"] == ["admin"]  # in the older session too
        assert len(await log(pool, deed=Deed.MANAGE_PEOPLE)) == 2
        provider.claims["groups"] = []
        denied = await arrive(await open_desk.browser())
        assert (denied.status_code, "has no role here" in denied.text) == (403, True)
        assert (await ann.see("/me")).status_code == 303


async def test_a_disabled_person_stays_out(pool: Pool, provider: Identities) -> None:
    async with desk(pool, issuer=provider.issuer, reading=READING) as open_desk:
        people = open_desk.rooms[PeopleStore]
        await people.create("ann@example.com", parse_grants(["viewer"]), by=ADMIN, also=nothing_else)
        await people.disable("ann@example.com", by=ADMIN, also=nothing_else)
        assert (await arrive(await open_desk.browser())).status_code == 403
        assert await pool.fetchval("select count(*) from console_session") == 0


LIES: list[dict[str, Any]] = [
    {"iss": "https://evil.example"},
    {"aud": "another-client"},
    {"exp": 1},
    {"nonce": "of another sign-in"},
    {"nonce": None},
    {"azp": "another-client"},
    {"email": None},
    {"email": "ann smith@example.com"},
    {"email": "аnn@example.com"},  # noqa: RUF001  # a Cyrillic letter
    {"email_verified": False},
    {"iat": int(time.time()) + 86400 * 365 * 20},
]


@pytest.mark.parametrize("lies", LIES, ids=",".join)
async def test_no_lie_lets_anybody_in(pool: Pool, provider: Identities, lies: dict[str, Any]) -> None:
    async with desk(pool, issuer=provider.issuer, reading=READING) as open_desk:
        provider.lies = lies
        denied = await arrive(await open_desk.browser())
        assert denied.status_code == 403
        assert await pool.fetchval("select count(*) from person") == 0


async def test_a_token_of_another_key_lets_nobody_in(pool: Pool, provider: Identities) -> None:
    async with desk(pool, issuer=provider.issuer, reading=READING) as open_desk:
        provider.signs_with = RSAKey.generate_key(2048, {"kid": "k1"})
        assert (await arrive(await open_desk.browser())).status_code == 403


async def test_a_new_key_of_the_provider_is_read(pool: Pool, provider: Identities) -> None:
    async with desk(pool, issuer=provider.issuer, reading=READING) as open_desk:
        assert (await arrive(await open_desk.browser())).status_code == 303
        provider.key = RSAKey.generate_key(2048, {"kid": "k1"})
        assert (await arrive(await open_desk.browser())).status_code == 303


async def test_an_answer_is_for_the_browser_that_asked_and_once(pool: Pool, provider: Identities) -> None:
    async with desk(pool, issuer=provider.issuer, reading=READING) as open_desk:
        mallory, victim = await open_desk.browser(), await open_desk.browser()
        address = await sent_back(mallory)
        assert (await victim.client.get(address)).status_code == 403  # it has begun nothing
        await sent_back(victim)
        assert (await victim.client.get(address)).status_code == 403  # it has begun another one
        assert (await mallory.client.get(address)).status_code == 303
        assert (await mallory.client.get(address)).status_code == 403


async def test_a_provider_that_is_down_is_named(pool: Pool) -> None:
    async with desk(pool, issuer="http://127.0.0.1:1", reading=READING) as open_desk:
        down = await (await open_desk.browser()).see("/sign-in/provider")
        assert (down.status_code, "identity provider does not answer" in down.text) == (503, True)


@pytest.mark.parametrize("next_", ["https://evil.example", "//evil.example"])
async def test_nobody_is_sent_elsewhere(pool: Pool, provider: Identities, next_: str) -> None:
    async with desk(pool, issuer=provider.issuer, reading=READING) as open_desk:
        assert (await arrive(await open_desk.browser(), next_)).headers["location"] == "/"


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        ({"sub": "u-1", "groups": "root"}, Vouched("u-1", parse_grants(["admin"]))),
        ({"sub": "u-1"}, Vouched("u-1", ())),
        ({"sub": "u-1", "groups": [1, None, "sg-team"]}, Vouched("u-1", parse_grants(["support:SG", "approver:SG"]))),
        ({"sub": "U-1"}, None),
        ({"sub": 7}, None),
        ({}, None),
    ],
)
def test_who_the_claims_name(claims: dict[str, Any], expected: Vouched | None) -> None:
    reading = READING._replace(id_claim="sub")
    if expected is not None:
        assert vouched(claims, reading) == expected
    else:
        with pytest.raises(Refused):
            vouched(claims, reading)


@pytest.mark.parametrize("text", ["[]", "x", '{"a": "admin"}', '{"a": ["king"]}', '{"a": ["support:sg"]}'])
def test_groups_that_cannot_be_read_are_refused(text: str) -> None:
    with pytest.raises((ValueError, Refused)):
        read_groups(text)
