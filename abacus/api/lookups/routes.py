"""The route of lookups: how often did it happen, for up to a hundred keys and ranges at once."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Final

import orjson
from fastapi import APIRouter, Request
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SkipValidation,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
)
from starlette.responses import Response

from abacus.api.api_problem import ApiProblem, Problem
from abacus.api.auth import Call, PersonCall
from abacus.api.lean import LeanRoute
from abacus.api.problems import problem_of_faults
from abacus.api.route_description import answered
from abacus.people.types.deed import Deed
from abacus.platform.validation import Moment
from abacus.signals.counters.metrics import COUNT_LOOKUPS
from abacus.signals.counters.reading.service import CountService
from abacus.signals.counters.reading.types import Counted, Lookup, NotCounted

MOST_QUERIES: Final = 100
LONGEST_KEY: Final = 512

_AFTER_ALL_TIME: Final = int(datetime(2100, 1, 1, tzinfo=UTC).timestamp())
_MOMENT: Final[TypeAdapter[datetime]] = TypeAdapter(Moment)

router = APIRouter(prefix="/v1", tags=["counts"], route_class=LeanRoute, default_response_class=Response)


def _second(value: object) -> int:
    """The second since 1970 of a number or a text."""
    if type(value) is int and 0 <= value < _AFTER_ALL_TIME:
        return value
    if isinstance(value, str):
        try:
            return int(_MOMENT.validate_python(value).timestamp())
        except ValidationError:
            pass
    raise ValueError("a time like 2026-01-10T12:30:00+08:00, or a number of seconds since 1970, is needed")


Second = Annotated[
    int,
    BeforeValidator(_second),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "format": "date-time"},
                {"type": "integer", "minimum": 0, "exclusiveMaximum": _AFTER_ALL_TIME},
            ]
        }
    ),
]


class Query(BaseModel):
    """How often, for this key, from the one time up to the other? Both are floored to the quarter of an hour."""

    model_config = ConfigDict(extra="forbid")

    # Control characters cannot be stored, so no counter has them in a key.
    key: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_KEY, pattern=r"^[^\x00-\x1f\x7f]+$")]
    from_: Annotated[Second, Field(alias="from")]
    to: Second

    @property
    def lookup(self) -> Lookup:
        return Lookup(self.key, self.from_, self.to)


_QUERY: Final[TypeAdapter[Query]] = TypeAdapter(Query)
_QUERIES: Final[TypeAdapter[list[Query]]] = TypeAdapter(list[Query])

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
    _check_may_count(call)
    results: list[dict[str, Any]] = [{"key": _key_of(query)} for query in ask.queries]
    readable = _readable(ask.queries, results)
    outcomes = await call.rooms[CountService].counts([query.lookup for query in readable.values()])
    for place, outcome in zip(readable, outcomes, strict=True):
        results[place].update(_result(outcome))
    answer = {"results": results, "partial": any(isinstance(o, NotCounted) and o.why.is_ours for o in outcomes)}
    return Response(orjson.dumps(answer, option=orjson.OPT_UTC_Z), media_type="application/json")


def _check_may_count(call: Call | PersonCall) -> None:
    """A key belongs to no country, so a person needs a role in all of them. Raises `ApiProblem`."""
    if isinstance(call, PersonCall):
        call.check(Deed.SEE, None)
    elif not call.partner.may_count:
        raise ApiProblem("counts-not-allowed")


def _readable(queries: Sequence[Any], results: Sequence[dict[str, Any]]) -> dict[int, Query]:
    """The queries that can be read, by their places; the results say what is wrong with the others."""
    try:
        return dict(enumerate(_QUERIES.validate_python(queries)))
    except ValidationError:
        pass
    readable: dict[int, Query] = {}
    for place, query in enumerate(queries):
        try:
            readable[place] = _QUERY.validate_python(query)
        except ValidationError as error:
            results[place]["error"] = problem_of_faults(error, f"/queries/{place}").document()
            COUNT_LOOKUPS.labels("invalid").inc()
    return readable


def _result(outcome: Counted | NotCounted) -> dict[str, Any]:
    if isinstance(outcome, NotCounted):
        return {"error": ApiProblem(outcome.why, outcome.detail).document()}
    return {
        "from": datetime.fromtimestamp(outcome.begin, UTC),
        "to": datetime.fromtimestamp(outcome.end, UTC),
        "count": outcome.units if not outcome.decimals else format(outcome.value, "f"),
    }


def _key_of(query: Any) -> str | None:
    """The key, if it can stand in an answer."""
    key = query.get("key") if isinstance(query, dict) else None
    return key if isinstance(key, str) and len(key) <= LONGEST_KEY and key.isprintable() else None
