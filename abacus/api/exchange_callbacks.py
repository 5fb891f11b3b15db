"""The route by which partners of exchanges tell of transfers; they show a signature, and no key."""

from typing import Any, Final

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response

from abacus.api.api_problem import ApiProblem
from abacus.api.auth import access_of
from abacus.api.document_routes import Name
from abacus.api.lean import LeanRoute
from abacus.api.route_description import answered, described
from abacus.exchanges.callbacks import Callbacks
from abacus.exchanges.decide.contract import NotOfContract
from abacus.platform.delivery.decide.signature import BadSignature

_EXAMPLE: Final[dict[str, Any]] = {
    "type": "transfer.credited",
    "timestamp": "2026-11-28T12:00:05Z",
    "data": {"id": "3f6b1c9e-6a0b-4b1f-9a53-0d5d7f0c7a05", "state": "credited", "amount": 2500, "reference": "PS17"},
}
_HEADERS: Final = [
    {"name": name, "in": "header", "required": True, "description": what, "schema": {"type": "string"}}
    for name, what in {
        "webhook-id": "The id of the message.",
        "webhook-timestamp": "When it was signed, in seconds since 1970.",
        "webhook-signature": "`v1,` and the HMAC-SHA256, in base64, of id, time and body, with a dot between.",
    }.items()
]

router = APIRouter(
    prefix="/v1/exchange-callbacks", tags=["exchanges"], route_class=LeanRoute, default_response_class=Response
)


class ExchangeCallback(BaseModel):
    """A Standard Webhook of a partner: a transfer has come to a state. `data` is as the contract's transfer."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    type: str = Field(pattern=r"^transfer\.(credited|rejected|cancelled|reversed)$")
    timestamp: str
    data: dict[str, Any]


@router.post(
    "/{programme}",
    status_code=204,
    summary="Tell of a transfer",
    responses=answered({204: (None, "It is heard")}, 404, 422),
    openapi_extra={**described(*_HEADERS, body=ExchangeCallback), "security": []},
)
async def call_back(programme: Name, request: Request) -> Response:
    """For the partner of the programme, with its signature instead of a key. The same again changes nothing, and of an
    id that the house does not know nothing follows. The contract: docs/partners/exchange-contract.md.
    """
    callbacks = access_of(request).rooms.find(Callbacks)
    if callbacks is None:
        raise ApiProblem("not-found", "no exchanges are open here")
    try:
        body = await request.body()
    except HTTPException:
        raise ApiProblem("too-large") from None
    try:
        await callbacks.take(programme, dict(request.headers), body)
    except BadSignature as fault:
        raise ApiProblem("bad-signature", str(fault)) from None
    except NotOfContract as fault:
        raise ApiProblem("malformed", str(fault)) from None
    return Response(status_code=204)
