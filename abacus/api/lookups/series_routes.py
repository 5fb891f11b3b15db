"""The routes of charts: the counts of keys slot by slot, and the keys that a counter has."""

import base64
import binascii
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Final, Self

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field, SkipValidation, model_validator
from starlette.responses import Response

from abacus.api.api_problem import ApiProblem, FieldFault, Problem
from abacus.api.auth import Call, PersonCall
from abacus.api.lean import LeanRoute
from abacus.api.lookups.questions import (
    LONGEST_KEY,
    MOST_QUERIES,
    QueryReader,
    QuerySecond,
    RangeQuery,
    answer_of,
    at,
    check_may_count,
    results_of,
    told,
)
from abacus.api.route_description import answered
from abacus.signals.counters.metrics import COUNT_SERIES
from abacus.signals.counters.reading.decide.series_plan import MOST_OF_ALL, MOST_SLOTS
from abacus.signals.counters.reading.series_service import SeriesService
from abacus.signals.counters.reading.types import NotCounted, Series, SeriesLookup
from abacus.signals.counters.types import Grain

_MOST_KEYS: Final = 100

router = APIRouter(prefix="/v1", tags=["series"], route_class=LeanRoute, default_response_class=Response)


class GrainName(StrEnum):
    """The length of a slot."""

    MINUTE = "minute"
    QUARTER = "quarter"
    HOUR = "hour"
    DAY = "day"

    @property
    def grain(self) -> Grain:
        return Grain[self.name]


class SeriesQuery(RangeQuery):
    """The count of a key in each slot of this length that holds a moment of the range."""

    grain: GrainName

    @property
    def lookup(self) -> SeriesLookup:
        return SeriesLookup(self.key, self.from_, self.to, self.grain.grain)


_READER: Final = QueryReader(SeriesQuery, COUNT_SERIES)
_KEY: Final = "rain_drops:city:111222"
_BEGIN: Final = "2024-09-24T22:00:00Z"


class SeriesAsk(BaseModel):
    """Up to 100 series, each of which gets its slots or an error by itself."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"queries": [{"key": _KEY, "from": _BEGIN, "to": "2024-09-25T00:00:00Z", "grain": "hour"}]}]
        },
    )

    # The queries are not validated here but one by one, so that a bad one does not spoil its neighbours.
    queries: Annotated[list[SkipValidation[SeriesQuery]], Field(min_length=1, max_length=MOST_QUERIES)]


class SeriesResult(BaseModel):
    """The slots of a series, each with its beginning and its count, or an error. `open`: the last slot has not ended.
    The counts of a definition with decimals are texts.
    """

    key: str | None
    grain: GrainName | None = None
    slots: list[tuple[datetime, int | str]] | None = None
    open: bool | None = None
    error: Problem | None = None


class SeriesAnswer(BaseModel):
    """The results, in the order of the queries. `partial`: some have no slots only because a part of us is down."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "results": [
                        {
                            "key": _KEY,
                            "grain": "hour",
                            "slots": [[_BEGIN, 18], ["2024-09-24T23:00:00Z", 0]],
                            "open": False,
                        },
                        {"key": "hail:city:1", "error": ApiProblem("unknown-key").document()},
                    ],
                    "partial": False,
                }
            ]
        }
    )

    results: list[SeriesResult]
    partial: bool


@router.post(
    "/series",
    summary="Count events slot by slot",
    description=f"""Up to {MOST_QUERIES} series. A slot without events has the count 0. The last slot is that of the
present, at most: slots to come are left out. People also ask for what campaigns and journeys add up by day, under keys
such as `@campaign:NAME:done` and `@journey:NAME:entered`. A series has at most {MOST_SLOTS:,} slots, and all of a
request {MOST_OF_ALL:,}. A series that cannot be told has an `error`, and the others have their slots.""",
    responses=answered({200: (SeriesAnswer, "A result for each query")}, 415, 422),
)
async def series(ask: SeriesAsk, request: Request) -> Response:
    """The counts of each slot."""
    call: Call | PersonCall = request.scope["state"]["call"]
    check_may_count(call)
    results = results_of(ask.queries)
    readable = _READER.read(ask.queries, results)
    asked = [query.lookup for query in readable.values()]
    outcomes = await call.rooms[SeriesService].series(asked, with_sums=isinstance(call, PersonCall))
    for (place, query), outcome in zip(readable.items(), outcomes, strict=True):
        results[place].update(_result(query.grain, outcome))
    is_partial = any(isinstance(each, NotCounted) and each.why.is_ours for each in outcomes)
    return answer_of({"results": results, "partial": is_partial})


class KeysQuery(BaseModel):
    """A page of keys; or the keys with the largest counts in a range."""

    model_config = ConfigDict(extra="forbid")

    limit: Annotated[int, Field(ge=1, le=_MOST_KEYS, description="Keys of a page.")] = _MOST_KEYS
    cursor: Annotated[str | None, Field(description="The `next` of the page before.", max_length=4000)] = None
    top: Annotated[int | None, Field(ge=1, le=_MOST_KEYS, description="So many keys with the largest counts.")] = None
    from_: Annotated[QuerySecond | None, Field(alias="from", description="Of the range of `top`.")] = None
    to: Annotated[QuerySecond | None, Field(description="Of the range of `top`.")] = None

    @model_validator(mode="after")
    def _is_one_of_both(self) -> Self:
        named = (self.top, self.from_, self.to)
        if any(each is None for each in named) and named != (None, None, None):
            raise ValueError("`top` needs `from` and `to`, and these need `top`")
        if self.top is not None and self.cursor is not None:
            raise ValueError("`top` has no pages: leave `cursor` out")
        return self


class KeyResult(BaseModel):
    """A key, and for `top` its count, which is a text where the definition has decimals."""

    key: str
    count: int | str | None = None


class KeysAnswer(BaseModel):
    """A page of keys in their order, `next` being the cursor of the next one, if there is one; or the keys with the
    largest counts, the largest first, with the range that was counted.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "keys": [{"key": _KEY}, {"key": "rain_drops:city:111223"}],
                    "next": "cmFpbl9kcm9wczpjaXR5OjExMTIyMw==",
                },
                {"keys": [{"key": _KEY, "count": 487}], "next": None, "from": _BEGIN, "to": "2024-09-27T01:15:00Z"},
            ]
        }
    )

    keys: list[KeyResult]
    next: str | None = None
    from_: Annotated[datetime | None, Field(alias="from")] = None
    to: datetime | None = None


@router.get(
    "/counters/{name}/keys",
    summary="List the keys of a counter",
    responses=answered({200: (KeysAnswer, "Keys of the latest version")}, 404, 410, 422),
)
async def keys(name: str, request: Request, query: Annotated[KeysQuery, Query()]) -> Response:
    """The keys that count, by pages in their order; or with `top`, `from` and `to` the keys with the largest counts in
    that range. A key is listed for as long as any of its counts is kept, and may be for a while after.
    """
    call: Call | PersonCall = request.scope["state"]["call"]
    check_may_count(call)
    charts = call.rooms[SeriesService]
    definition = charts.definition(name)
    if definition is None:
        raise ApiProblem("not-found", "there is no counter of this name")
    if query.top is None or query.from_ is None or query.to is None:
        page = await charts.keys(definition, _after(query.cursor), query.limit)
        following = None if page.next is None else base64.urlsafe_b64encode(page.next.encode()).decode()
        return answer_of({"keys": [{"key": each} for each in page.keys], "next": following})
    outcome = await charts.top(definition, query.from_, query.to, query.top)
    if isinstance(outcome, NotCounted):
        raise ApiProblem(outcome.why, outcome.detail)
    counted = [{"key": each.key, "count": told(each.value)} for each in outcome.keys]
    return answer_of({"keys": counted, "next": None, "from": at(outcome.begin), "to": at(outcome.end)})


def _result(grain: GrainName, outcome: Series | NotCounted) -> dict[str, Any]:
    if isinstance(outcome, NotCounted):
        return {"error": ApiProblem(outcome.why, outcome.detail).document()}
    slots = [[at(begin), told(value)] for begin, value in zip(outcome.begins, outcome.values, strict=True)]
    return {"grain": grain, "slots": slots, "open": outcome.is_open}


def _after(cursor: str | None) -> str:
    """Raises `ApiProblem`."""
    try:
        after = "" if cursor is None else base64.b64decode(cursor, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        after = "\x00"
    if not after.isprintable() or len(after) > LONGEST_KEY:
        detail = "not a cursor that this API gave"
        raise ApiProblem("invalid", detail, errors=[FieldFault(pointer="query/cursor", detail=detail)])
    return after
