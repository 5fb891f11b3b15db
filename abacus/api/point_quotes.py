"""The route that says what a member's points pay at a till."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from abacus.api import answers
from abacus.api.answer_schemas import PointQuoteAnswer
from abacus.api.lean import LeanRoute, read_body
from abacus.api.moves import spender, target_for
from abacus.api.route_description import answered, described
from abacus.intake.partners.orders import PointQuoteOrder, point_quote_of
from abacus.people.types.deed import Deed

router = APIRouter(prefix="/v1", tags=["quotes"], route_class=LeanRoute, default_response_class=Response)


@router.post(
    "/point-quotes",
    summary="What a member's points pay at a till",
    responses=answered({200: (PointQuoteAnswer, "The points and the money")}, 404, 415, 422),
    openapi_extra=described(body=PointQuoteOrder),
)
async def point_quote(request: Request) -> Response:
    """The money that `points` pay, the points that pay `money`, or what all available points pay. Nothing is spent or
    held. Points are the fewest that pay the money, and money is at most what was asked for: a spend of both costs the
    member exactly that, while the card is in force.
    """
    call = spender(request)
    order = await read_body(request, PointQuoteOrder.model_validate)
    target = await target_for(call, Deed.MOVE_POINTS, order.member_id, order)
    return answers.json_answer(point_quote_of(order, target)._asdict())
