"""A sign-in at a partner, which says whose account it is: OAuth 2.0 by code, with PKCE. Pure.

RFC 6749 (authorization code), 7636 (PKCE, S256 alone) and 9207 (the issuer beside the code). What comes from outside is
never repeated in a message: it may be a code or a token.
"""

import base64
import hashlib
import re
from http import HTTPStatus
from typing import Any, Final, NamedTuple
from urllib.parse import quote, quote_plus, urlencode, urlsplit

from abacus.exchanges.decide.contract import PROBLEM, Answer, NotOfContract, document_in, problem_in
from abacus.exchanges.decide.link import LinkFault, LinkRefused, is_number_text
from abacus.exchanges.decide.programme import SignIn
from abacus.exchanges.types import Account, NoAccount

FORM: Final = "application/x-www-form-urlencoded"
LONGEST_NAME: Final = 200  # of a holder
_TOKEN: Final = re.compile("[!-~]{1,8192}")
_ERROR: Final = re.compile(r"[ !#-\[\]-~]{1,100}")  # as RFC 6749 has it, and not longer
_CODE_IS_BAD: Final = "invalid_grant"


class Returned(NamedTuple):
    """What came to the redirect address."""

    code: str
    state: str
    issuer: str | None = None


def check_may_sign_in(sign_in: SignIn | None, programme: str, redirect_uri: str) -> SignIn:
    """Raises `LinkRefused`."""
    if sign_in is None:
        raise LinkRefused(LinkFault.NO_SIGN_IN, f"members do not sign in at the partner of {programme}")
    if redirect_uri not in sign_in.redirect_uris:
        raise LinkRefused(LinkFault.NO_REDIRECT, f"{programme} sends nobody back to this address")
    return sign_in


def client_of(sign_in: SignIn) -> str:
    """The house as a client of the server that takes its secret."""
    server = urlsplit(sign_in.token_url)
    return f"{sign_in.client_id} at {server.scheme}://{server.netloc}"


def is_issued_by(sign_in: SignIn, issuer: str | None) -> bool:
    """Whether an answer may be this partner's. Where the programme names no issuer, nothing is to be compared."""
    return sign_in.issuer is None or issuer == sign_in.issuer


def challenge_of(verifier: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")


def authorize_url(sign_in: SignIn, redirect_uri: str, state: str, verifier: str) -> str:
    """Where the member is sent."""
    asked = {
        "response_type": "code",
        "client_id": sign_in.client_id,
        "redirect_uri": redirect_uri,
        **({} if sign_in.scope is None else {"scope": sign_in.scope}),
        "state": state,
        "code_challenge": challenge_of(verifier),
        "code_challenge_method": "S256",
    }
    joint = "&" if "?" in sign_in.authorize_url else "?"
    return f"{sign_in.authorize_url}{joint}{urlencode(asked, quote_via=quote)}"


def client_header(client_id: str, secret: str) -> str:
    """Both parts are encoded as in a form before they are put together: RFC 6749, 2.3.1."""
    pair = f"{quote_plus(client_id)}:{quote_plus(secret)}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"


def token_request(code: str, verifier: str, redirect_uri: str) -> bytes:
    asked = {"grant_type": "authorization_code", "code": code, "redirect_uri": redirect_uri, "code_verifier": verifier}
    return urlencode(asked).encode()


def token_in(answer: Answer) -> str | NoAccount:
    """The token; a code that the partner does not take is no account. Raises `NotOfContract`."""
    if answer.status != HTTPStatus.OK:
        error = _error(answer)
        if error == _CODE_IS_BAD:
            return NoAccount.REFUSED
        raise NotOfContract(f"answered a code with {answer.status}{f' {error}' if error else ''}")
    document = document_in(answer)
    token, kind = document.get("access_token"), document.get("token_type")
    if not isinstance(token, str) or _TOKEN.fullmatch(token) is None:
        raise NotOfContract("answered a code without an access_token")
    if not isinstance(kind, str) or kind.lower() != "bearer":
        raise NotOfContract("answered a code with a token that is no bearer token")
    return token


def account_in(answer: Answer) -> Account | NoAccount:
    """Raises `NotOfContract`."""
    if answer.status == HTTPStatus.UNPROCESSABLE_ENTITY and answer.media_type == PROBLEM:
        kind = problem_in(answer).get("type")
        if kind in [NoAccount.UNKNOWN, NoAccount.CLOSED]:
            return NoAccount(kind)
    if answer.status != HTTPStatus.OK:
        raise NotOfContract(f"answered a token with {answer.status}")
    document = document_in(answer)
    number, holder = document.get("number"), document.get("holder")
    if not isinstance(number, str) or not is_number_text(number.strip()):
        raise NotOfContract("answered a token without the number of an account")
    if holder is not None and (not isinstance(holder, str) or not holder.isprintable() or len(holder) > LONGEST_NAME):
        raise NotOfContract(f"answered a token with a holder that is no name of up to {LONGEST_NAME} printable letters")
    return Account(number.strip(), holder or None)


def _error(answer: Answer) -> str:
    """The error of RFC 6749, if the answer has one."""
    try:
        error: Any = document_in(answer).get("error")
    except NotOfContract:
        return ""
    return error if isinstance(error, str) and _ERROR.fullmatch(error) else ""
