"""Where members sign in: a partner for each programme that has a sign-in, as it is in force."""

from collections.abc import Awaitable, Callable
from functools import partial

from abacus.exchanges.carriers.http import PATIENCE
from abacus.exchanges.carriers.oauth import WITHIN_S, OAuthPartner
from abacus.exchanges.decide.programme import Programme, SignIn
from abacus.exchanges.decide.sign_in import client_of
from abacus.exchanges.types import SignInPort
from abacus.platform.reading.breaker import Breaker

# The secret of a programme, for this client. Raises `Unavailable`.
SecretOf = Callable[[str, str], Awaitable[str]]


class SignIns:
    """One for each process. `close` it at the end."""

    def __init__(self, secret_of: SecretOf, *, to_private: bool, within_s: float = WITHIN_S) -> None:
        self._secret_of = secret_of
        self._to_private = to_private
        self._within_s = within_s
        self._opened: dict[str, tuple[SignIn, OAuthPartner]] = {}
        self._left: list[OAuthPartner] = []

    def port(self, programme: Programme, sign_in: SignIn) -> SignInPort:
        opened = self._opened.get(programme.name)
        if opened is not None and opened[0] == sign_in:
            return opened[1]
        if opened is not None:
            self._left.append(opened[1])
        name = programme.name
        port = OAuthPartner(
            programme.partner,
            sign_in,
            partial(self._secret_of, name, client_of(sign_in)),
            Breaker(f"sign-ins of {name}", PATIENCE),
            to_private=self._to_private,
            within_s=self._within_s,
        )
        self._opened[name] = sign_in, port
        return port

    async def close(self) -> None:
        for each in [*self._left, *(port for _, port in self._opened.values())]:
            await each.close()
