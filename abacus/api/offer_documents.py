"""The routes by which people see offers, submit them, and pause, resume and end them."""

from typing import Final

from fastapi import Request
from starlette.responses import Response

from abacus.api.answer_examples import OFFER_DOCUMENT
from abacus.api.answers import json_answer
from abacus.api.auth import person_of
from abacus.api.document_routes import DocumentRoutes, Name
from abacus.api.route_description import answered
from abacus.engage.offers.desk import OfferDesk
from abacus.engage.offers.kind import OFFERS
from abacus.engage.offers.shown import ONE_IN

_ROUTES: Final = DocumentRoutes(
    OFFERS,
    OfferDesk,
    manual="docs/country-teams/offers.md",
    example=OFFER_DOCUMENT,
    wrong_state="offer-state",
    is_granted=True,
)

router = _ROUTES.router()


@router.get(
    "/offers/{name}/report",
    summary="What an offer has done",
    responses=answered({200: (None, "By day, the currency beside")}, 404, 422),
)
async def report(name: Name, request: Request) -> Response:
    """How often it was shown, by a sample, reserved, redeemed and rolled back on each day, and what it gave."""
    call = person_of(request)
    latest = (await _ROUTES.history(call, name))[-1].document
    lines = await call.rooms[OfferDesk].by_day(latest.name)
    days = [
        {"day": each.day, "currency": each.currency, **dict(zip(each._fields[5:-2], each[5:-2], strict=True))}
        | {"money": str(each.money), "points": each.points}
        for each in lines
    ]
    return json_answer({"offer": latest.name, "shown_one_in": ONE_IN, "days": days})
