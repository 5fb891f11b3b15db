"""The route by which a partner compares what came in from it: the house's own statement of a day."""

from datetime import date, datetime
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from abacus.api.answer_schemas import with_example
from abacus.api.answers import json_answer
from abacus.api.api_problem import ApiProblem
from abacus.api.inbound_exchanges import exchanging_partner
from abacus.api.lean import LeanRoute
from abacus.api.route_description import answered
from abacus.core.errors import Absent
from abacus.documents.decide.heading import NAME_PATTERN
from abacus.exchanges.decide.exchange import State
from abacus.exchanges.decide.inbound_statement import InboundStatement
from abacus.exchanges.inbound_statements import InboundStatements

router = APIRouter(prefix="/v1", tags=["exchanges"], route_class=LeanRoute, default_response_class=Response)

_LINE: Final = {"id": "T-1001", "state": "awarded", "points": 1000, "credit": 1500, "at": "2026-11-28T09:02:00+00:00"}
_EXAMPLE: Final = {
    "programme": "skymiles",
    "date": "2026-11-28",
    "complete": True,
    "count": 1,
    "sums": {"points": 1000, "credit": 1500},
    "lines": [_LINE],
}


class StatementAsk(BaseModel):
    """The query parameters of a statement."""

    model_config = ConfigDict(extra="forbid")

    programme: Annotated[str, Field(pattern=f"^{NAME_PATTERN}$")]
    date: Annotated[date, Field(description="A day of UTC.")]


class StatementSums(BaseModel):
    """Of all lines."""

    points: int
    credit: int


class StatementLineAnswer(BaseModel):
    """An exchange of the partner that was awarded: its `points` became a `credit` of the house's."""

    model_config = with_example(_LINE)

    id: str
    state: Literal["awarded"]
    points: int
    credit: int
    at: datetime


class StatementAnswer(BaseModel):
    """What came in on a day. Of a day that is `complete` it never changes. What was dropped moved nothing, and has no
    line.
    """

    model_config = with_example(_EXAMPLE)

    programme: str
    date: date
    complete: bool
    count: int
    sums: StatementSums
    lines: list[StatementLineAnswer]


@router.get(
    "/exchange-statement",
    summary="What came in from you on a day",
    responses=answered({200: (StatementAnswer, "The statement")}, 404, 422),
)
async def statement(request: Request, query: Annotated[StatementAsk, Query()]) -> Response:
    """Compare it with your own book once it is `complete`, some minutes after the day. Each id has one line."""
    call = exchanging_partner(request)
    statements = call.rooms.find(InboundStatements)
    if statements is None:
        raise ApiProblem("not-found", "no exchanges are open here")
    try:
        found = await statements.of(call.partner.partner_id, query.programme, query.date)
    except Absent:
        raise ApiProblem("not-found", "no such programme is yours") from None
    return json_answer(_facts(found))


def _facts(found: InboundStatement) -> dict[str, Any]:
    return {
        "programme": found.programme,
        "date": found.day,
        "complete": found.complete,
        "count": len(found.lines),
        "sums": {"points": found.points, "credit": found.credit},
        "lines": [{**each._asdict(), "state": State.AWARDED} for each in found.lines],
    }
