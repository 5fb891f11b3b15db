"""A small provider of identities on loopback: discovery, keys, and tokens signed with RS256; and ways to lie."""

import asyncio
import base64
import hashlib
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlencode

from joserfc import jwt
from joserfc.jwk import RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from abacus.api.http.limits import HttpLimits
from abacus.api.server import bound, serve


@cache
def _its_key() -> RSAKey:
    return RSAKey.generate_key(2048, {"kid": "k1"})


@dataclass
class Identities:
    """Says that whoever comes is the person of `claims`. `lies` replaces claims of its tokens."""

    issuer: str
    claims: dict[str, Any] = field(default_factory=dict)
    lies: dict[str, Any] = field(default_factory=dict)
    key: RSAKey = field(default_factory=_its_key)
    signs_with: RSAKey | None = None
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    async def configuration(self, _: Request) -> Response:
        return JSONResponse(
            {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/keys",
            }
        )

    async def keys(self, _: Request) -> Response:
        return JSONResponse({"keys": [self.key.as_dict(private=False)]})

    async def authorize(self, request: Request) -> Response:
        asked = dict(request.query_params)
        code = secrets.token_urlsafe(16)
        self.codes[code] = asked
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}")

    async def token(self, request: Request) -> Response:
        """Once a code, with the verifier of its challenge and the secret of the client."""
        form = dict(parse_qsl((await request.body()).decode()))
        asked = self.codes.pop(form.get("code", ""), None)
        client = base64.b64decode(request.headers["authorization"].removeprefix("Basic ")).decode()
        challenge = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        if (
            asked is None
            or client != "abacus:hush"
            or form["redirect_uri"] != asked["redirect_uri"]
            or asked["code_challenge"] != base64.urlsafe_b64encode(challenge).rstrip(b"=").decode()
        ):
            return JSONResponse({"error": "invalid_grant"}, status_code=400)
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": asked["client_id"],
            "iat": now,
            "exp": now + 300,
            "nonce": asked["nonce"],
            "sub": "00u1",
            **self.claims,
            **self.lies,
        }
        signed = jwt.encode({"alg": "RS256", "kid": "k1"}, claims, self.signs_with or self.key)
        return JSONResponse({"access_token": "x", "token_type": "Bearer", "id_token": signed})


@asynccontextmanager
async def identities() -> AsyncIterator[Identities]:
    listener = bound("127.0.0.1", 0, "tests")
    provider = Identities(f"http://127.0.0.1:{listener.getsockname()[1]}")
    app = Starlette(
        routes=[
            Route("/.well-known/openid-configuration", provider.configuration),
            Route("/keys", provider.keys),
            Route("/authorize", provider.authorize),
            Route("/token", provider.token, methods=["POST"]),
        ]
    )
    stop = asyncio.Event()
    serving = asyncio.create_task(serve(app, listener, stop, HttpLimits()))
    try:
        yield provider
    finally:
        stop.set()
        await serving
