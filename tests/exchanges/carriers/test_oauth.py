"""A partner at which members sign in, asked over HTTP: servers that are not what they should be."""

from collections.abc import Sequence
from typing import Final
from urllib.parse import parse_qs

import pytest

from abacus.core.errors import Unavailable
from abacus.exchanges.carriers.line import MOST_BYTES
from abacus.exchanges.carriers.oauth import OAuthPartner
from abacus.exchanges.decide.programme import SignIn
from abacus.exchanges.decide.sign_in import client_header
from abacus.exchanges.types import NoAccount, NotAsked
from abacus.platform.delivery.post import Resolve, look_up
from abacus.platform.reading.breaker import Breaker
from abacus.platform.reading.decide.circuit import Patience
from tests.support.receiver import Receiver, receiving

pytestmark = pytest.mark.once

ASKED: Final = ("code", "verifier", "https://app.example/linked")
REFUSED: Final = '{"error": "invalid_grant"}'
AS_JSON: Final = "content-type: application/json"


async def secret() -> str:
    return "s3cret"


async def nobodys_secret() -> str:
    raise Unavailable("secrets", "it cannot be read")


def partner(
    at: str, *, to_private: bool = True, resolve: Resolve = look_up, breaker: Breaker | None = None
) -> OAuthPartner:
    sign_in = SignIn(f"{at}/authorize", f"{at}/token/?tenant=sky", f"{at}/account", "abacus", ASKED[2:])
    breaker = breaker or Breaker("sign-ins")
    return OAuthPartner("skyline", sign_in, secret, breaker, to_private=to_private, resolve=resolve)


def address(receiver: Receiver) -> str:
    return f"http://127.0.0.1:{receiver.port}"


async def test_a_code_is_changed_with_the_secret_and_the_verifier() -> None:
    async with receiving() as server:
        server.answers("400 Bad Request", AS_JSON, body=REFUSED)
        asking = partner(address(server))
        assert await asking.account(*ASKED) is NoAccount.REFUSED
        await asking.close()
    (request,) = server.requests
    assert request.line == "POST /token/?tenant=sky HTTP/1.1"
    assert request.headers["authorization"] == client_header("abacus", "s3cret")
    assert {name: value for name, (value,) in parse_qs(request.body.decode()).items()} == {
        "grant_type": "authorization_code",
        "code": "code",
        "redirect_uri": "https://app.example/linked",
        "code_verifier": "verifier",
    }


@pytest.mark.parametrize(
    ("status", "headers", "body", "why"),
    [
        ("302 Found", ["location: http://127.0.0.1:1/"], "", "answered a code with 302"),
        ("200 OK", [AS_JSON], "x" * (MOST_BYTES + 1), "more than"),
        ("200 OK", [AS_JSON, "content-encoding: gzip"], '{"access_token": "t"}', "no bearer token"),
        ("503 Busy", [], "", "answered a code with 503"),
    ],
    ids=["redirect", "too long", "no kind", "busy"],
)
async def test_what_is_no_token_is_an_outage(status: str, headers: Sequence[str], body: str, why: str) -> None:
    async with receiving() as server:
        server.answers(status, *headers, body=body)
        asking = partner(address(server))
        with pytest.raises(Unavailable, match=why) as fault:
            await asking.account(*ASKED)
        await asking.close()
    assert not isinstance(fault.value, NotAsked), "the code may be used"
    assert len(server.requests) == 1


async def test_nothing_is_sent_to_addresses_within() -> None:
    async def within(_host: str, _port: int) -> list[str]:
        return ["10.0.0.1"]

    asking = partner("https://login.example", to_private=False, resolve=within)
    with pytest.raises(NotAsked, match=r"10\.0\.0\.1 is not an address of the public internet"):
        await asking.account(*ASKED)
    await asking.close()


async def test_a_partner_that_fails_is_left_alone_for_a_while() -> None:
    breaker = Breaker("sign-ins", Patience(failures=1, first_s=1000.0, longest_s=1000.0))
    async with receiving() as server:
        server.answers("500 Oops")
        asking = partner(address(server), breaker=breaker)
        with pytest.raises(Unavailable, match="answered a code with 500"):
            await asking.account(*ASKED)
        with pytest.raises(NotAsked, match="left alone for a while"):
            await asking.account(*ASKED)
        await asking.close()
    assert len(server.requests) == 1


async def test_without_the_secret_nothing_is_asked() -> None:
    sign_in = SignIn("https://a.example/", "https://a.example/", "https://a.example/", "abacus", ASKED[2:])
    asking = OAuthPartner("skyline", sign_in, nobodys_secret, Breaker("sign-ins"), to_private=False)
    with pytest.raises(Unavailable):
        await asking.check()
    with pytest.raises(NotAsked, match="it cannot be read"):
        await asking.account(*ASKED)
    await asking.close()
