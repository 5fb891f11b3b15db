"""A member links an account by signing in at the partner, over HTTP at both ends."""

from collections.abc import AsyncIterator
from typing import Any, Final, NamedTuple

import httpx
import pytest

from abacus.api import exchange_links
from abacus.core.clock import SystemClock
from abacus.exchanges.client_secrets import ClientSecrets
from abacus.exchanges.partner_sim.sign_in import CLIENT_ID
from abacus.exchanges.sign_ins import SignIns
from abacus.platform.postgres import Pool
from abacus.pricing.store.cards import CardStore
from tests.support.exchange_door import ExchangeDoor, exchange_door
from tests.support.exchanges import CARDS, NOW, SECRETS, SKYMILES, enter_partner, linking, run_programme
from tests.support.fixed_clock import FixedClock
from tests.support.partner_sim import Partner, partner_sim
from tests.support.sign_ins import BACK, oauth_part, signed_in

LINKS: Final = "/v1/members/bob/links"
ASK: Final = {"programme": "skymiles", "oauth": {"redirect_uri": BACK}}


class Door(NamedTuple):
    """Who calls, and the partner that is up."""

    callers: ExchangeDoor
    partner: Partner


@pytest.fixture
async def door(pool: Pool) -> AsyncIterator[Door]:
    await CardStore(pool).publish(CARDS["SG"].card, by="ann", now=NOW)
    await enter_partner(pool, SystemClock())
    secrets = ClientSecrets(pool, SECRETS)
    sign_ins = SignIns(secrets.of, to_private=True)
    async with partner_sim() as partner:
        client = f"{CLIENT_ID} at {partner.url}"
        await secrets.set("skymiles", partner.secret, client, "person:ann", NOW)
        programme = await run_programme(pool, {**SKYMILES, "oauth": oauth_part(partner.url)})
        desk = linking(pool, FixedClock(NOW), programme, sign_in_of=sign_ins.port)
        async with exchange_door(pool, [exchange_links.router], desk) as callers:
            yield Door(callers, partner)
        await sign_ins.close()


def problem(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, str(answer.json()["type"]).removeprefix("/problems/")


async def test_a_member_signs_in_and_comes_back(door: Door) -> None:
    app = await door.callers.partner("app")
    asked = await app.post(LINKS, json=ASK)
    link: dict[str, Any] = asked.json()
    assert (asked.status_code, link["status"], link["way"], link["number"]) == (201, "asked", "oauth", "…")
    assert link["code_until"] is not None
    waiting = (await app.get(LINKS)).json()["links"]
    assert waiting == [{**link, "authorize_url": None}], "it is told once"
    back = await signed_in(link["authorize_url"], "SKY 1234 5678")
    one = f"{LINKS}/{link['link_id']}/verify"
    verified = await app.post(one, json={"oauth": back})
    told: dict[str, Any] = verified.json()
    assert (verified.status_code, told["status"], told["way"], told["number"]) == (200, "verified", "oauth", "…5678")
    assert (told["authorize_url"], told["code_until"]) == (None, None)
    assert (await app.post(one, json={"oauth": back})).json() == told


async def test_what_is_not_taken(door: Door) -> None:
    app = await door.callers.partner("app")
    for body in (
        {**ASK, "number": "SKY 1234 5678"},
        {**ASK, "name": "Bob Tan"},
        {**ASK, "send_code": True},
        {"programme": "skymiles"},
        {**ASK, "oauth": {}},
        {**ASK, "oauth": {"redirect_uri": BACK, "state": "mine"}},
    ):
        assert problem(await app.post(LINKS, json=body)) == (422, "invalid")
    elsewhere = {**ASK, "oauth": {"redirect_uri": "https://evil.example/"}}
    assert problem(await app.post(LINKS, json=elsewhere)) == (422, "redirect-not-allowed")
    link = (await app.post(LINKS, json=ASK)).json()
    back, one = await signed_in(link["authorize_url"], "SKY 1234 5678"), f"{LINKS}/{link['link_id']}/verify"
    bad: list[dict[str, Any]] = [
        {"code": "123456", "oauth": back},
        {"oauth": {"code": "c"}},
        {"oauth": {**back, "x": 1}},
        {"oauth": {**back, "code": "c\n"}},
        {"oauth": {**back, "state": "ä"}},
    ]
    for each in bad:
        assert problem(await app.post(one, json=each)) == (422, "invalid")
    wrong = await app.post(one, json={"oauth": {**back, "state": "another"}})
    assert problem(wrong) == (409, "wrong-sign-in")
    kims = one.replace("bob", "kim")
    assert problem(await app.post(kims, json={"oauth": back})) == (404, "not-found")
    await door.partner.behaves(fails=1)
    away = await app.post(one, json={"oauth": back})
    assert (problem(away), "begin again" in away.json()["detail"]) == ((503, "unavailable"), True)
    assert problem(await app.post(one, json={"oauth": back})) == (409, "sign-in-over")


async def test_who_may_not_link_may_not_begin(door: Door) -> None:
    poor = await door.callers.partner("poor", may_spend=False)
    assert problem(await poor.post(LINKS, json=ASK)) == (403, "spending-not-allowed")
    other = await door.callers.person("eli", "support:ID")
    assert problem(await other.post(LINKS, json=ASK)) == (403, "role-needed")
