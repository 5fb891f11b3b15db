"""The reference partner lets its members sign in, and takes a code once, from whom it was made for."""

import base64
from typing import Final
from urllib.parse import parse_qsl, urlencode

import httpx
import orjson
import pytest

from abacus.exchanges.decide.contract import Answer
from abacus.exchanges.decide.invented_accounts import CLOSED, UNKNOWN
from abacus.exchanges.decide.sign_in import FORM, challenge_of, client_header, token_request
from abacus.exchanges.partner_sim.sign_in import CLIENT_ID
from tests.support.partner_sim import Partner, partner_sim

pytestmark = pytest.mark.once

BACK: Final = "https://app.example/linked"
ASKED: Final = {
    "response_type": "code",
    "client_id": CLIENT_ID,
    "redirect_uri": BACK,
    "state": "st",
    "code_challenge": challenge_of("verifier"),
    "code_challenge_method": "S256",
}


async def sign_in(partner: Partner, **asked: str) -> httpx.Response:
    async with httpx.AsyncClient() as browser:
        return await browser.get(f"{partner.url}/oauth/authorize?{urlencode({**ASKED, **asked})}")


async def sent_back(partner: Partner, **asked: str) -> dict[str, str]:
    answer = await sign_in(partner, **asked)
    assert answer.status_code == 302, answer.text
    url, _, query = answer.headers["location"].partition("?")
    assert url == BACK
    return dict(parse_qsl(query))


async def changed(partner: Partner, code: str, *, verifier: str = "verifier", back: str = BACK) -> Answer:
    headers = {"authorization": client_header(CLIENT_ID, partner.secret), "content-type": FORM}
    return await partner.line.ask("POST", "/oauth/token", headers, token_request(code, verifier, back))


async def account(partner: Partner, token: str) -> Answer:
    return await partner.line.ask("GET", "/oauth/account", {"authorization": f"Bearer {token}"})


async def test_a_code_opens_the_account_once() -> None:
    async with partner_sim() as partner:
        back = await sent_back(partner, login_hint="12345678", name="Ann Lee")
        assert (back["state"], back["iss"]) == ("st", partner.url)
        token = orjson.loads((await changed(partner, back["code"])).body)
        assert token["token_type"] == "Bearer"
        told = await account(partner, token["access_token"])
        assert orjson.loads(told.body) == {"number": "12345678", "holder": "Ann Lee"}
        again = await changed(partner, back["code"])
        assert (again.status, orjson.loads(again.body)) == (400, {"error": "invalid_grant"})
        assert (await account(partner, "another")).status == 401


async def test_a_code_is_taken_with_its_verifier_and_its_address_alone() -> None:
    async with partner_sim() as partner:
        for wrong in ({"verifier": "another"}, {"back": "https://app.example/other"}):
            code = (await sent_back(partner, login_hint="12345678"))["code"]
            assert orjson.loads((await changed(partner, code, **wrong)).body) == {"error": "invalid_grant"}
            assert (await changed(partner, code)).status == 400, "it is gone"


async def test_another_client_is_told_nothing() -> None:
    async with partner_sim() as partner:
        code = (await sent_back(partner, login_hint="12345678"))["code"]
        other = f"Basic {base64.b64encode(b'abacus:other').decode()}"
        answer = await partner.line.ask("POST", "/oauth/token", {"authorization": other}, b"")
        assert (answer.status, orjson.loads(answer.body)) == (401, {"error": "invalid_client"})
        assert (await changed(partner, code)).status == 200
        assert (await sign_in(partner, client_id="other")).status_code == 400


@pytest.mark.parametrize(
    "back",
    [
        "http://[",
        "https:",
        "app.example",
        f"{BACK}\r\nset-cookie: a=b",
        f"{BACK}\t",
        f" {BACK}",
        f"{BACK}/\xe4",
        "",
        "x:" * 1001,
    ],
)
async def test_nobody_is_sent_to_what_is_no_address(back: str) -> None:
    async with partner_sim() as partner:
        answer = await sign_in(partner, redirect_uri=back, login_hint="12345678")
        assert (answer.status_code, answer.json()["type"]) == (400, "malformed")


async def test_a_member_is_sent_back_to_an_app() -> None:
    async with partner_sim() as partner:
        answer = await sign_in(partner, redirect_uri="com.example.app:/linked", login_hint="12345678")
        assert answer.headers["location"].startswith("com.example.app:/linked?code=")


async def test_accounts_that_are_closed_or_unknown_are_told_so() -> None:
    async with partner_sim() as partner:
        for number, kind in ((CLOSED, "account-closed"), (UNKNOWN, "account-unknown")):
            code = (await sent_back(partner, login_hint=number))["code"]
            token = orjson.loads((await changed(partner, code)).body)["access_token"]
            told = await account(partner, token)
            assert (told.status, orjson.loads(told.body)["type"]) == (422, kind)


async def test_a_page_asks_for_the_account_and_a_member_may_say_no() -> None:
    async with partner_sim() as partner:
        page = await sign_in(partner, state='"><script>')
        assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert ('value="&quot;&gt;&lt;script&gt;"' in page.text, "<script>" in page.text) == (True, False)
        denied = await sent_back(partner, deny="1")
        assert denied == {"error": "access_denied", "state": "st", "iss": partner.url}
        assert (await sent_back(partner, code_challenge_method="plain"))["error"] == "invalid_request"
        assert (await sent_back(partner, response_type="token"))["error"] == "unsupported_response_type"
