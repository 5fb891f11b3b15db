"""A provider of identities (OpenID Connect): the code flow, with PKCE. Its keys and addresses are kept for a while."""

import base64
import hashlib
from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

import httpx
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from abacus.console.entry.decide.browser import Use, derived, fits
from abacus.console.entry.decide.claims import ClaimRules, Vouched, vouched
from abacus.core.clock import Clock
from abacus.core.errors import Refused, Unavailable

DEPENDENCY: Final = "identity provider"
BACK: Final = "/sign-in/provider/back"
_ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA")
_KEPT_S: Final = 3600.0
_WITHIN_S: Final = 10.0
_SKEW_S: Final = 60
_OK: Final = 200
_REFUSES: Final = range(400, 500)


class Client(NamedTuple):
    """What the provider knows this console by."""

    issuer: str
    client_id: str
    client_secret: str | None
    back: str  # the address to which it sends browsers back


class _Metadata(NamedTuple):
    """What the provider says of itself."""

    authorize: str
    token: str
    keys: KeySet
    read_at: float


class Provider:
    """Raises `Unavailable` when the provider does not answer, and `Refused` for what it does not confirm."""

    def __init__(
        self, client: Client, reading: ClaimRules, clock: Clock, http: httpx.AsyncClient | None = None
    ) -> None:
        self._client = client
        self._reading = reading
        self._clock = clock
        self._http = http or httpx.AsyncClient(timeout=_WITHIN_S, follow_redirects=False)
        self._known: _Metadata | None = None

    async def close(self) -> None:
        await self._http.aclose()

    async def address_for(self, visit: str) -> str:
        """Where the browser with this token goes to say who it is."""
        metadata = await self._metadata()
        challenge = hashlib.sha256(derived(visit, Use.VERIFIER).encode()).digest()
        query = {
            "response_type": "code",
            "client_id": self._client.client_id,
            "redirect_uri": self._client.back,
            "scope": "openid email profile groups",
            "state": derived(visit, Use.STATE),
            "nonce": derived(visit, Use.NONCE),
            "code_challenge": base64.urlsafe_b64encode(challenge).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        return f"{metadata.authorize}{'&' if '?' in metadata.authorize else '?'}{urlencode(query)}"

    async def vouches_for(self, visit: str, answer: Mapping[str, str]) -> Vouched:
        """The person whom the provider sent back to this browser."""
        if not fits(answer.get("state"), visit, Use.STATE):
            raise Refused("this answer belongs to no sign-in that this browser has begun")
        if "code" not in answer:
            raise Refused(f"the provider let nobody in: {answer.get('error', 'no code')}")
        metadata = await self._metadata()
        tokens = await self._redeemed(metadata, answer["code"], derived(visit, Use.VERIFIER))
        claims = await self._claims(str(tokens.get("id_token", "")))
        if not fits(str(claims.get("nonce", "")), visit, Use.NONCE):
            raise Refused("the provider's answer is for another sign-in")
        return vouched(claims, self._reading)

    async def _redeemed(self, metadata: _Metadata, code: str, verifier: str) -> Mapping[str, Any]:
        client = self._client
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": client.back,
            "code_verifier": verifier,
        }
        if client.client_secret is None:
            return await self._asked("POST", metadata.token, data={**form, "client_id": client.client_id})
        return await self._asked("POST", metadata.token, data=form, auth=(client.client_id, client.client_secret))

    async def _claims(self, id_token: str) -> Mapping[str, Any]:
        """Of a token that is signed by the provider, for this console, and in force."""
        try:
            try:
                token = jwt.decode(id_token, (await self._metadata()).keys, algorithms=list(_ALGORITHMS))
            except (JoseError, ValueError):
                # Perhaps with a key that is newer than the known keys.
                token = jwt.decode(id_token, (await self._metadata(anew=True)).keys, algorithms=list(_ALGORITHMS))
            registry = jwt.JWTClaimsRegistry(
                now=int(self._clock.now().timestamp()),
                leeway=_SKEW_S,
                iss={"essential": True, "value": self._client.issuer},
                aud={"essential": True, "value": self._client.client_id},
                exp={"essential": True},
                iat={"essential": True},
            )
            registry.validate(token.claims)
        except (JoseError, ValueError) as fault:
            raise Refused(f"the provider's token does not hold: {fault}") from None
        if token.claims.get("azp", self._client.client_id) != self._client.client_id:
            raise Refused("the provider's token is for another client")
        return token.claims

    async def _metadata(self, *, anew: bool = False) -> _Metadata:
        now = self._clock.now().timestamp()
        known = self._known
        if known is not None and not anew and now - known.read_at < _KEPT_S:
            return known
        issuer = self._client.issuer
        said = await self._asked("GET", f"{issuer.rstrip('/')}/.well-known/openid-configuration")
        if said.get("issuer") != issuer:
            raise Unavailable(DEPENDENCY, f"it calls itself {said.get('issuer')!a}, not {issuer}")
        try:
            keys = KeySet.import_key_set(await self._asked("GET", str(said["jwks_uri"])))  # type: ignore[arg-type]  # it checks the document itself
            known = _Metadata(str(said["authorization_endpoint"]), str(said["token_endpoint"]), keys, now)
        except (KeyError, JoseError, ValueError) as fault:
            raise Unavailable(DEPENDENCY, f"what it says of itself cannot be used: {fault}") from None
        self._known = known
        return known

    async def _asked(self, method: str, url: str, **given: Any) -> Mapping[str, Any]:
        try:
            answer = await self._http.request(method, url, headers={"Accept": "application/json"}, **given)
            document = answer.json() if answer.status_code == _OK else None
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as fault:
            raise Unavailable(DEPENDENCY, str(fault) or type(fault).__name__) from None
        if method == "POST" and answer.status_code in _REFUSES:
            raise Refused("the provider does not take the code, or does not know this console")
        if not isinstance(document, dict):
            raise Unavailable(DEPENDENCY, f"it answered {answer.status_code} at {url}")
        return document
