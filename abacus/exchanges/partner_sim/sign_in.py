"""Where members of the reference partner sign in: OAuth 2.0 by code, with PKCE, and whose account it is.

`GET /oauth/authorize` asks for the account's number on a page, or takes it from `login_hint` and says yes at once;
`POST /oauth/token` changes a code for a token, once; `GET /oauth/account` tells the account. What is under way goes
with the process.
"""

import base64
import hashlib
import hmac
import html
import secrets as randomness
from collections.abc import Mapping
from datetime import timedelta
from typing import Final, NamedTuple, TypeVar
from urllib.parse import parse_qsl, quote_plus, urlencode, urlsplit

from abacus.core.clock import Clock
from abacus.exchanges.decide.invented_accounts import CLOSED, UNKNOWN
from abacus.exchanges.partner_sim.http import Problem, Reply, Request

ROOT: Final = "/oauth/"
CLIENT_ID: Final = "abacus"
_AUTHORIZE, _TOKEN, _ACCOUNT = f"{ROOT}authorize", f"{ROOT}token", f"{ROOT}account"
_METHODS: Final = {_AUTHORIZE: "GET", _TOKEN: "POST", _ACCOUNT: "GET"}
_CODE_FOR: Final = timedelta(minutes=1)
_TOKEN_FOR: Final = timedelta(minutes=5)
_MOST: Final = 10_000  # codes, and tokens; the oldest go
_LONGEST: Final = 2000
_PAGE: Final = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Reference partner</title>
<form action="{path}"><p>The house wants to know your account.</p>{hidden}
<p><label>Number <input name="login_hint" required></label> <label>Name <input name="name"></label></p>
<p><button>Sign in</button> <button name="deny" value="1" formnovalidate>No</button></p></form></html>"""

Held = TypeVar("Held")


class _Code(NamedTuple):
    """A code that was given, and what has to come with it."""

    redirect_uri: str
    challenge: str
    account: Mapping[str, str]
    until_s: float


class _Token(NamedTuple):
    """Whose account a token opens."""

    account: Mapping[str, str]
    until_s: float


class SignInDoor:
    """The routes under `/oauth/`, for one client."""

    def __init__(self, secret: str, clock: Clock) -> None:
        pair = f"{quote_plus(CLIENT_ID)}:{quote_plus(secret)}"
        self._client = f"Basic {base64.b64encode(pair.encode()).decode()}"
        self._clock = clock
        self._codes: dict[str, _Code] = {}
        self._tokens: dict[str, _Token] = {}

    def reply(self, request: Request) -> Reply:
        """Raises `Problem`."""
        method = _METHODS.get(request.path)
        if method is None:
            raise Problem("not-found")
        if request.method != method:
            raise Problem("method-not-allowed")
        if request.path == _AUTHORIZE:
            return self._authorize(request)
        return self._token(request) if request.path == _TOKEN else self._account(request)

    def _authorize(self, request: Request) -> Reply:
        asked = _form(request.query)
        back = asked.get("redirect_uri", "")
        if asked.get("client_id") != CLIENT_ID or not _is_address(back):
            raise Problem("malformed", "nobody is sent back to an unknown client, or to no address")
        issuer = {"iss": f"http://{request.headers.get('host', '')}"}
        told = {**({"state": asked["state"]} if "state" in asked else {}), **issuer}
        if asked.get("response_type") != "code":
            return _sent_back(back, {"error": "unsupported_response_type", **told})
        if not asked.get("code_challenge") or asked.get("code_challenge_method") != "S256":
            return _sent_back(back, {"error": "invalid_request", **told})
        if "deny" in asked:
            return _sent_back(back, {"error": "access_denied", **told})
        if not asked.get("login_hint"):
            return _page(asked)
        account = {"number": asked["login_hint"], **({"holder": asked["name"]} if asked.get("name") else {})}
        code, until_s = randomness.token_urlsafe(), self._now_s() + _CODE_FOR.total_seconds()
        _keep(self._codes, code, _Code(back, asked["code_challenge"], account, until_s))
        return _sent_back(back, {"code": code, **told})

    def _token(self, request: Request) -> Reply:
        if not hmac.compare_digest(request.headers.get("authorization", "").encode(), self._client.encode()):
            return _refused(401, "invalid_client")
        asked = _form(request.body.decode("ascii", "replace"))
        if asked.get("grant_type") != "authorization_code":
            return _refused(400, "unsupported_grant_type")
        known = self._codes.pop(asked.get("code", ""), None)
        verifier = hashlib.sha256(asked.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(verifier).decode().rstrip("=")
        if (
            known is None
            or known.until_s <= self._now_s()
            or known.redirect_uri != asked.get("redirect_uri")
            or known.challenge != challenge
        ):
            return _refused(400, "invalid_grant")
        token = randomness.token_urlsafe()
        _keep(self._tokens, token, _Token(known.account, self._now_s() + _TOKEN_FOR.total_seconds()))
        document = {"access_token": token, "token_type": "Bearer", "expires_in": int(_TOKEN_FOR.total_seconds())}
        return Reply(200, document, headers={"cache-control": "no-store"})

    def _account(self, request: Request) -> Reply:
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        known = self._tokens.get(token)
        if kind.lower() != "bearer" or known is None or known.until_s <= self._now_s():
            raise Problem("bad-token")
        refused = {CLOSED: "account-closed", UNKNOWN: "account-unknown"}.get(known.account["number"])
        if refused is not None:
            raise Problem(refused, "this account gets no transfers")
        return Reply(200, known.account)

    def _now_s(self) -> float:
        return self._clock.now().timestamp()


def _form(text: str) -> Mapping[str, str]:
    """Raises `Problem`."""
    try:
        pairs = parse_qsl(text, max_num_fields=50)
    except ValueError as fault:
        raise Problem("malformed", str(fault)) from None
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Problem("malformed", "a parameter stands there twice")
    return found


def _is_address(text: str) -> bool:
    """It goes into a header as it is. `urlsplit` alone would pass over ends of lines."""
    if not text.isascii() or not text.isprintable() or " " in text or len(text) > _LONGEST:
        return False
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return bool(parts.scheme and (parts.netloc or parts.path))


def _keep(kept: dict[str, Held], name: str, value: Held) -> None:
    kept[name] = value
    while len(kept) > _MOST:
        del kept[next(iter(kept))]


def _sent_back(redirect_uri: str, told: Mapping[str, str]) -> Reply:
    joint = "&" if "?" in redirect_uri else "?"
    return Reply(302, {}, headers={"location": f"{redirect_uri}{joint}{urlencode(told)}"}, body=b"")


def _page(asked: Mapping[str, str]) -> Reply:
    hidden = "".join(
        f'<input type="hidden" name="{html.escape(name)}" value="{html.escape(value)}">'
        for name, value in asked.items()
        if name not in {"login_hint", "name"}
    )
    page = _PAGE.format(path=_AUTHORIZE, hidden=hidden)
    return Reply(200, {}, "text/html; charset=utf-8", body=page.encode())


def _refused(status: int, error: str) -> Reply:
    """As RFC 6749 has it."""
    return Reply(status, {"error": error}, headers={"cache-control": "no-store"})
