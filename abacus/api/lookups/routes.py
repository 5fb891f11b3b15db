"""The route of lookups: how often did it happen, for up to a hundred keys and ranges at once."""

from datetime import datetime
from typing import Annotated, Any, Final

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field, SkipValidation
from starlette.responses import Response

from abacus.api.api_problem import ApiProblem, Problem
from abacus.api.auth import Call, PersonCall
from abacus.api.lean import LeanRoute
from abacus.api.lookups.questions import (
    MOST_QUERIES,
    QueryReader,
    RangeQuery,
    answer_of,
    at,
    check_may_count,
    results_of,
    told,
)
from abacus.api.route_description import answered
from abacus.signals.counters.metrics import COUNT_LOOKUPS
from abacus.signals.counters.reading.service import CountService
from abacus.signals.counters.reading.types import Counted, Lookup, NotCounted

router = APIRouter(prefix="/v1", tags=["counts"], route_class=LeanRoute, default_response_class=Response)


class Query(RangeQuery):
    """How often, for this key, from the one time up to the other? Both are floored to the quarter of an hour."""

    @property
    def lookup(self) -> Lookup:
        return Lookup(self.key, self.from_, self.to)


_READER: Final = QueryReader(Query, COUNT_LOOKUPS)

_KEY: Final = "rain_drops:city:111222"


class CountsAsk(BaseModel):
    """Lookups, each of which gets a count or an error by itself."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "queries": [
                        {"key": _KEY, "from": 1727215430, "to": 1727400000},
                        {"key": _KEY, "from": "2024-09-24T00:00:00+08:00", "to": "2024-09-25T00:00:00+08:00"},
                    ]
                }
            ]
        },
    )

    # The queries are not validated here but one by one, so that a bad one does not spoil its neighbours.
    queries: Annotated[list[SkipValidation[Query]], Field(min_length=1, max_length=MOST_QUERIES)]


class CountResult(BaseModel):
    """A count with the range that was counted, or an error. The count of a definition with decimals is a text."""

    key: str | None
    from_: Annotated[datetime | None, Field(alias="from")] = None
    to: datetime | None = None
    count: int | str | None = None
    error: Problem | None = None


class CountsAnswer(BaseModel):
    """The results, in the order of the queries. `partial`: some have no count only because a part of us is down."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "results": [
                        {"key": _KEY, "from": "2024-09-24T22:00:00Z", "to": "2024-09-27T01:15:00Z", "count": 487},
                        {"key": "hail:city:1", "error": ApiProblem("unknown-key").document()},
                    ],
                    "partial": False,
                }
            ]
        }
    )

    results: list[CountResult]
    partial: bool


@router.post(
    "/counts",
    summary="Count events by key and range of time",
    responses=answered({200: (CountsAnswer, "A result for each query")}, 415, 422),
)
async def counts(ask: CountsAsk, request: Request) -> Response:
    """Up to 100 lookups. A lookup that cannot be counted has an `error`, and the others have their counts."""
    call: Call | PersonCall = request.scope["state"]["call"]
    check_may_count(call)
    results = results_of(ask.queries)
    readable = _READER.read(ask.queries, results)
    outcomes = await call.rooms[CountService].counts([query.lookup for query in readable.values()])
    for place, outcome in zip(readable, outcomes, strict=True):
        results[place].update(_result(outcome))
    answer = {"results": results, "partial": any(isinstance(o, NotCounted) and o.why.is_ours for o in outcomes)}
    return answer_of(answer)


def _result(outcome: Counted | NotCounted) -> dict[str, Any]:
    if isinstance(outcome, NotCounted):
        return {"error": ApiProblem(outcome.why, outcome.detail).document()}
    return {"from": at(outcome.begin), "to": at(outcome.end), "count": told(outcome.value)}
