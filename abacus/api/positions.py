"""The route that takes positions of members from senders without Kafka."""

from datetime import datetime
from typing import Annotated, Any, Final

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field, SkipValidation, TypeAdapter, ValidationError
from starlette.responses import Response

from abacus.api import answers
from abacus.api.answer_schemas import PositionBatchAnswer
from abacus.api.api_problem import ApiProblem, FieldFault
from abacus.api.auth import call_of
from abacus.api.lean import LeanRoute
from abacus.api.problems import problem_of_item
from abacus.api.route_description import answered
from abacus.signals.places.decide.position import EXAMPLE, PositionMessage
from abacus.signals.places.metrics import POSITIONS_POSTED
from abacus.signals.places.position_desk import MOST_IN_BATCH, PositionDesk

_TAKEN: Final = 202
_ITEM: Final[TypeAdapter[PositionMessage]] = TypeAdapter(PositionMessage)

router = APIRouter(prefix="/v1", tags=["positions"], route_class=LeanRoute, default_response_class=Response)


class PositionBatch(BaseModel):
    """Positions; each succeeds or fails by itself."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"positions": [EXAMPLE]}]})

    # The items are not validated here but one by one, so that a bad item does not spoil its neighbours.
    positions: Annotated[list[SkipValidation[PositionMessage]], Field(min_length=1, max_length=MOST_IN_BATCH)]


@router.post(
    "/positions",
    status_code=_TAKEN,
    summary="Say where members are",
    responses=answered({202: (PositionBatchAnswer, "The broker has the accepted positions")}, 415, 422),
)
async def post_positions(batch: PositionBatch, request: Request) -> Response:
    """Up to 100 positions. Nothing keeps them: the regions that a member enters and leaves become events. The answer
    says for each, in their order, whether it was accepted. When the broker is away, none is: post all of them again.
    """
    call = call_of(request)
    if not call.partner.may_send_positions:
        raise ApiProblem("positions-not-allowed")
    results: list[dict[str, Any]] = []
    accepted: list[PositionMessage] = []
    now = call.access.clock.now()
    for place, item in enumerate(batch.positions):
        within = f"/positions/{place}"
        try:
            position = _read(item, within, now)
        except ValidationError as error:
            results.append({"outcome": "refused", "problem": problem_of_item(error, within).document()})
        except ApiProblem as problem:
            results.append({"outcome": "refused", "problem": problem.document()})
        else:
            results.append({"outcome": "accepted"})
            accepted.append(position)
    POSITIONS_POSTED.labels("refused").inc(len(results) - len(accepted))
    if accepted:
        await call.rooms[PositionDesk].post(accepted)
    return answers.json_answer({"results": results}, _TAKEN)


def _read(item: object, within: str, now: datetime) -> PositionMessage:
    """Raises `ValidationError` and `ApiProblem`."""
    position = _ITEM.validate_python(item)
    if position.is_still_to_come(now):
        fault = FieldFault(pointer=f"{within}/at", detail=f"{position.at.isoformat()} is still to come")
        raise ApiProblem("in-the-future", str(fault.detail), errors=[fault])
    return position
