"""A partner at which members sign in: a code becomes a token, the token says which account it is, and is forgotten."""

import ssl
from collections.abc import Awaitable, Callable, Mapping
from typing import Final
from urllib.parse import urlsplit

from abacus.core.errors import Unavailable
from abacus.exchanges.carriers.line import Line, NoAnswer, NotSent
from abacus.exchanges.decide.contract import JSON, PROBLEM, Answer, NotOfContract
from abacus.exchanges.decide.programme import SignIn
from abacus.exchanges.decide.sign_in import FORM, account_in, client_header, token_in, token_request
from abacus.exchanges.types import Account, NoAccount, NotAsked
from abacus.platform.delivery.post import Resolve, look_up
from abacus.platform.reading.breaker import Breaker

WITHIN_S: Final = 10.0  # of each of two questions: a caller waits
_AT_ONCE: Final = 32
_SERVER_FAILS: Final = 500

# The secret of the house as a client. Raises `Unavailable`.
SecretOf = Callable[[], Awaitable[str]]


class OAuthPartner:
    """`SignInPort` by HTTP; `close` it at the end. Raises `Refused` for an address that may not be."""

    def __init__(
        self,
        name: str,
        sign_in: SignIn,
        secret: SecretOf,
        breaker: Breaker,
        *,
        to_private: bool,
        within_s: float = WITHIN_S,
        resolve: Resolve = look_up,
        trust: ssl.SSLContext | None = None,
    ) -> None:
        self._name = name
        self._client_id = sign_in.client_id
        self._secret = secret
        self._breaker = breaker
        self._within_s = within_s

        def opened(url: str) -> tuple[Line, str]:
            parts = urlsplit(url)
            origin = f"{parts.scheme}://{parts.netloc}"
            line = Line(origin, to_private=to_private, at_once=_AT_ONCE, resolve=resolve, trust=trust)
            return line, (parts.path or "/") + (f"?{parts.query}" if parts.query else "")

        self._tokens, self._accounts = opened(sign_in.token_url), opened(sign_in.account_url)

    async def check(self) -> None:
        await self._secret()

    async def account(self, code: str, verifier: str, redirect_uri: str) -> Account | NoAccount:
        try:
            secret = await self._secret()
        except Unavailable as fault:
            raise NotAsked(fault.dependency, fault.detail) from None
        basic = {"authorization": client_header(self._client_id, secret), "content-type": FORM, "accept": JSON}
        body = token_request(code, verifier, redirect_uri)
        try:
            token = token_in(await self._asked("POST", self._tokens, basic, body))
        except NotSent as fault:
            raise NotAsked(self._name, str(fault)) from None
        except (NoAnswer, NotOfContract) as fault:
            raise Unavailable(self._name, str(fault)) from None
        if isinstance(token, NoAccount):
            return token
        bearer = {"authorization": f"Bearer {token}", "accept": f"{JSON}, {PROBLEM}"}
        try:
            return account_in(await self._asked("GET", self._accounts, bearer))
        except (NoAnswer, NotOfContract) as fault:
            raise Unavailable(self._name, str(fault)) from None

    async def close(self) -> None:
        for line, _ in (self._tokens, self._accounts):
            await line.close()

    async def _asked(self, method: str, at: tuple[Line, str], headers: Mapping[str, str], body: bytes = b"") -> Answer:
        """Raises `NoAnswer`."""
        line, target = at
        if not self._breaker.lets_through():
            raise NotSent(f"it is left alone for a while: {self._breaker.why}")
        try:
            answer = await line.ask(method, target, headers, body, within_s=self._within_s)
        except NoAnswer as fault:
            self._breaker.failed(str(fault))
            raise
        if answer.status >= _SERVER_FAILS:
            self._breaker.failed(f"answered {answer.status}")
        else:
            self._breaker.succeeded()
        return answer
