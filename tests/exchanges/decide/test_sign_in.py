"""A sign-in at a partner: what is asked, and what its answers say."""

from typing import Final
from urllib.parse import parse_qs, urlsplit

import orjson
import pytest

from abacus.exchanges.decide.contract import JSON, PROBLEM, Answer, NotOfContract
from abacus.exchanges.decide.link import LinkFault, LinkRefused
from abacus.exchanges.decide.programme import SignIn
from abacus.exchanges.decide.sign_in import (
    account_in,
    authorize_url,
    challenge_of,
    check_may_sign_in,
    client_header,
    is_issued_by,
    token_in,
    token_request,
)
from abacus.exchanges.types import Account, NoAccount

SIGN_IN: Final = SignIn(
    "https://login.example/authorize?brand=sky",
    "https://login.example/token",
    "https://login.example/account",
    "abacus",
    ("https://app.example/linked",),
    scope="account offline",
)
SECRET: Final = "s3cret-s3cret"


def said(document: object, status: int = 200, media_type: str = JSON) -> Answer:
    return Answer(status, media_type, orjson.dumps(document))


def test_the_challenge_is_that_of_the_standard() -> None:
    challenge = challenge_of("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
    assert challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


def test_the_member_is_sent_with_all_that_the_partner_has_to_know_and_the_query_stays() -> None:
    url = authorize_url(SIGN_IN, SIGN_IN.redirect_uris[0], "state", "verifier")
    assert url.startswith("https://login.example/authorize?brand=sky&response_type=code&")
    assert {name: value for name, (value,) in parse_qs(urlsplit(url).query).items()} == {
        "brand": "sky",
        "response_type": "code",
        "client_id": "abacus",
        "redirect_uri": "https://app.example/linked",
        "scope": "account offline",
        "state": "state",
        "code_challenge": challenge_of("verifier"),
        "code_challenge_method": "S256",
    }
    assert "verifier=" not in url
    bare = authorize_url(SIGN_IN._replace(authorize_url="https://a.example", scope=None), "app.x:/y", "s", "v")
    assert bare.startswith("https://a.example?response_type=code")
    assert "scope" not in bare


def test_a_client_proves_itself_as_the_standard_has_it() -> None:
    assert client_header("a b", "c:d%") == "Basic YStiOmMlM0FkJTI1"
    assert token_request("c&d", "v", "app.x:/y") == (
        b"grant_type=authorization_code&code=c%26d&redirect_uri=app.x%3A%2Fy&code_verifier=v"
    )


def test_only_addresses_of_the_programme_are_sent_back_to() -> None:
    assert check_may_sign_in(SIGN_IN, "skymiles", "https://app.example/linked") == SIGN_IN
    for sign_in, uri, fault in (
        (SIGN_IN, "https://app.example/linked/", LinkFault.NO_REDIRECT),
        (SIGN_IN, "https://app.example/linked?a=b", LinkFault.NO_REDIRECT),
        (None, "https://app.example/linked", LinkFault.NO_SIGN_IN),
    ):
        with pytest.raises(LinkRefused) as refused:
            check_may_sign_in(sign_in, "skymiles", uri)
        assert refused.value.fault is fault


def test_an_issuer_has_to_be_said_where_the_programme_has_one() -> None:
    named = SIGN_IN._replace(issuer="https://login.example")
    told = [is_issued_by(named, each) for each in ("https://login.example", "https://login.example/", None)]
    assert told == [True, False, False]
    assert is_issued_by(SIGN_IN, None)
    assert is_issued_by(SIGN_IN, "https://other.example")


def test_a_token_or_that_the_code_is_not_taken() -> None:
    assert token_in(said({"access_token": "t0k", "token_type": "bearer"})) == "t0k"
    assert token_in(said({"error": "invalid_grant"}, 400)) is NoAccount.REFUSED


@pytest.mark.parametrize(
    "answer",
    [
        said({"error": "invalid_client", "error_description": SECRET}, 401),
        said({"error": f"{SECRET}\n"}, 400),
        said({"error": 7}, 400),
        said([SECRET], 400),
        Answer(500, "text/html", SECRET.encode()),
        Answer(302, "", b""),
        Answer(200, JSON, SECRET.encode()),
        Answer(200, "text/html", SECRET.encode()),
        said([SECRET]),
        said({"access_token": "", "token_type": "bearer"}),
        said({"access_token": f"{SECRET} {SECRET}", "token_type": "bearer"}),
        said({"access_token": f"{SECRET}\n", "token_type": "bearer"}),
        said({"access_token": 7, "token_type": "bearer"}),
        said({"access_token": SECRET}),
        said({"access_token": SECRET, "token_type": "mac"}),
    ],
)
def test_anything_else_is_no_token_and_is_not_repeated(answer: Answer) -> None:
    with pytest.raises(NotOfContract) as fault:
        token_in(answer)
    assert SECRET not in str(fault.value)


def test_an_account_or_that_there_is_none() -> None:
    assert account_in(said({"number": " SKY 1234 5678 ", "holder": "Bob Tan"})) == Account("SKY 1234 5678", "Bob Tan")
    assert account_in(said({"number": "12345678", "holder": ""})) == Account("12345678")
    for kind in (NoAccount.UNKNOWN, NoAccount.CLOSED):
        assert account_in(said({"type": kind}, 422, PROBLEM)) is kind


@pytest.mark.parametrize(
    "answer",
    [
        said({"type": "sign-in-refused"}, 422, PROBLEM),
        said({"type": [SECRET]}, 422, PROBLEM),
        said({"type": "account-closed"}, 403, PROBLEM),
        Answer(401, JSON, SECRET.encode()),
        Answer(200, JSON, SECRET.encode()),
        said({}),
        said({"number": 12345678}),
        said({"number": f"{SECRET}\n1"}),
        said({"number": "12345678", "holder": [SECRET]}),
        said({"number": "12345678", "holder": f"{SECRET}\x00"}),
        said({"number": "12345678", "holder": SECRET * 100}),
    ],
)
def test_anything_else_is_no_account_and_is_not_repeated(answer: Answer) -> None:
    with pytest.raises(NotOfContract) as fault:
        account_in(answer)
    assert SECRET not in str(fault.value)
