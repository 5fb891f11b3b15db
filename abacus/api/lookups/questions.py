"""What lookups and series have in common: who may ask, keys and times, and queries that are read one by one."""

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, Final, Generic, TypeVar

import orjson
from prometheus_client import Counter
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
)
from starlette.responses import Response

from abacus.api.api_problem import ApiProblem
from abacus.api.auth import Call, PersonCall
from abacus.api.problems import problem_of_faults
from abacus.people.types.deed import Deed
from abacus.platform.validation import Moment

MOST_QUERIES: Final = 100
LONGEST_KEY: Final = 512

_LONGEST_SECOND: Final = 12  # digits
_AFTER_ALL_TIME: Final = int(datetime(2100, 1, 1, tzinfo=UTC).timestamp())
_MOMENT: Final[TypeAdapter[datetime]] = TypeAdapter(Moment)


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


_SCHEMA: Final = WithJsonSchema(
    {
        "anyOf": [
            {"type": "string", "format": "date-time"},
            {"type": "integer", "minimum": 0, "exclusiveMaximum": _AFTER_ALL_TIME},
        ]
    }
)
Second = Annotated[int, BeforeValidator(_second), _SCHEMA]


def _second_of_query(value: object) -> int:
    """In a query string a number is a text, too."""
    is_number = isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= _LONGEST_SECOND
    return _second(int(str(value)) if is_number else value)


QuerySecond = Annotated[int, BeforeValidator(_second_of_query), _SCHEMA]


class RangeQuery(BaseModel):
    """A key, from the one time up to the other."""

    model_config = ConfigDict(extra="forbid")

    # Control characters cannot be stored, so no counter has them in a key.
    key: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_KEY, pattern=r"^[^\x00-\x1f\x7f]+$")]
    from_: Annotated[Second, Field(alias="from")]
    to: Second


Asked = TypeVar("Asked", bound=RangeQuery)


class QueryReader(Generic[Asked]):
    """Reads queries of a kind. Queries that cannot be read are counted as invalid."""

    def __init__(self, kind: type[Asked], outcomes: Counter) -> None:
        self._one: TypeAdapter[Asked] = TypeAdapter(kind)
        self._all: TypeAdapter[list[Asked]] = TypeAdapter(list[kind])  # type: ignore[valid-type]  # known at run time
        self._outcomes = outcomes

    def read(self, queries: Sequence[Any], results: Sequence[dict[str, Any]]) -> dict[int, Asked]:
        """The queries that can be read, by their places; the results say what is wrong with the others."""
        try:
            return dict(enumerate(self._all.validate_python(queries)))
        except ValidationError:
            pass
        readable: dict[int, Asked] = {}
        for place, query in enumerate(queries):
            try:
                readable[place] = self._one.validate_python(query)
            except ValidationError as error:
                results[place]["error"] = problem_of_faults(error, f"/queries/{place}").document()
                self._outcomes.labels("invalid").inc()
        return readable


def check_may_count(call: Call | PersonCall) -> None:
    """A key belongs to no country, so a person needs a role in all of them. Raises `ApiProblem`."""
    if isinstance(call, PersonCall):
        call.check(Deed.SEE, None)
    elif not call.partner.may_count:
        raise ApiProblem("counts-not-allowed")


def results_of(queries: Sequence[Any]) -> list[dict[str, Any]]:
    """A result for each query, with its key, if that can stand in an answer."""
    return [{"key": _key_of(query)} for query in queries]


def told(value: int | Decimal) -> int | str:
    """A count, as answers have it."""
    return value if isinstance(value, int) else format(value, "f")


def at(second: int) -> datetime:
    """A second since 1970, as answers have it."""
    return datetime.fromtimestamp(second, UTC)


def answer_of(document: dict[str, Any]) -> Response:
    """The answer with this document."""
    return Response(orjson.dumps(document, option=orjson.OPT_UTC_Z), media_type="application/json")


def _key_of(query: Any) -> str | None:
    key = query.get("key") if isinstance(query, dict) else None
    return key if isinstance(key, str) and len(key) <= LONGEST_KEY and key.isprintable() else None
