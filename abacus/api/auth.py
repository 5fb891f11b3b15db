"""Who is asking: the key, the rate limit and, where the partner signs, the signature."""

import time
from typing import Annotated, NamedTuple

from fastapi import Depends, Request

from abacus.api.parts import Parts
from abacus.api.problems import ApiProblem
from abacus.partners.partner import Partner
from abacus.partners.signature import (
    SIGNATURE_HEADER,
    TIMESTAMP_HEADER,
    BadSignature,
    SignedRequest,
    check_signature,
)

_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="abacus"'}


class Call(NamedTuple):
    """A request of a partner, with what it takes to answer it."""

    partner: Partner
    parts: Parts


# One dependency and not several: each costs about as much as all else that FastAPI does for a request.
async def _call(request: Request) -> Call:
    parts: Parts = request.app.state.parts
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        raise ApiProblem("unauthorized", headers=_CHALLENGE)
    partner = await parts.directory.find(key.strip())
    if partner is None:
        raise ApiProblem("unauthorized", "the key is not valid", headers=_CHALLENGE)
    permit = parts.limiter.take(partner.partner_id, partner.requests_per_minute, time.monotonic())
    request.state.headers.update(
        {
            "ratelimit-limit": str(permit.limit),
            "ratelimit-remaining": str(permit.remaining),
            "ratelimit-reset": str(permit.reset_s),
        }
    )
    if permit.wait_s:
        raise ApiProblem(
            "too-many-requests",
            f"more than {permit.limit} requests a minute",
            headers={"Retry-After": str(permit.wait_s)},
        )
    if partner.signing_secret is not None:
        await _check_signature(request, partner.signing_secret, parts)
    return Call(partner, parts)


async def _check_signature(request: Request, secret: str, parts: Parts) -> None:
    path = request.scope["raw_path"].decode("latin-1")
    query = request.scope["query_string"].decode("latin-1")
    signed = SignedRequest(
        request.method,
        f"{path}?{query}" if query else path,
        await request.body(),
        request.headers.get(TIMESTAMP_HEADER),
        request.headers.get(SIGNATURE_HEADER),
    )
    try:
        check_signature(secret, signed, parts.clock.now())
    except BadSignature as error:
        raise ApiProblem("bad-signature", str(error), headers=_CHALLENGE) from None


Caller = Annotated[Call, Depends(_call)]
