"""A position of a member, from the bytes of a message. Nothing that is told or kept of a faulty one says where it was.
Pure.
"""

from datetime import datetime
from typing import Annotated, Any, Final, NamedTuple

import orjson
from pydantic import BaseModel, ConfigDict, Field, Strict, StringConstraints, TypeAdapter, ValidationError

from abacus.core.clock import CLOCKS_DIFFER_BY
from abacus.core.errors import Reason, SetAside
from abacus.core.ids import ID_PATTERN
from abacus.platform.validation import Moment, first_fault
from abacus.signals.places.decide.point import Point, point

EXAMPLE: Final[dict[str, Any]] = {
    "member_id": "bob",
    "lat": 1.30407,
    "lon": 103.83182,
    "accuracy_m": 12,
    "at": "2026-01-10T12:30:00+08:00",
}
MAX_BYTES: Final = 4096  # of a message
FARTHEST_OFF_M: Final = 1_000_000.0

_KEPT: Final = ("member_id", "at")
_LONGEST: Final = 128


class PositionMessage(BaseModel):
    """Where a member was at a time, as far as `accuracy_m` metres are wrong. Nothing keeps it: regions that the member
    enters and leaves become events.
    """

    model_config = ConfigDict(title="Position", frozen=True, json_schema_extra={"examples": [EXAMPLE]})

    member_id: Annotated[str, StringConstraints(pattern=ID_PATTERN)]
    lat: Annotated[float, Strict(), Field(ge=-90, le=90, allow_inf_nan=False)]
    lon: Annotated[float, Strict(), Field(ge=-180, le=180, allow_inf_nan=False)]
    accuracy_m: Annotated[float, Strict(), Field(ge=0, le=FARTHEST_OFF_M, allow_inf_nan=False)] = 0.0
    at: Moment

    def is_still_to_come(self, now: datetime) -> bool:
        """Whether it says that it is of a later time, more than clocks differ."""
        return self.at > now + CLOCKS_DIFFER_BY

    def encoded(self) -> bytes:
        """As it is published on the topic of positions."""
        return orjson.dumps(dict(self))


_MESSAGE: Final = TypeAdapter(PositionMessage)


class Position(NamedTuple):
    """Where a member was."""

    member_id: str
    point: Point
    accuracy_m: float
    at: datetime


def read_position(value: bytes, now: datetime) -> Position:
    """Raises `SetAside`."""
    if len(value) > MAX_BYTES:
        raise SetAside(Reason.UNDECODABLE, f"{len(value)} bytes; a position has at most {MAX_BYTES}")
    try:
        read = _MESSAGE.validate_json(value)
    except ValidationError as error:
        is_json = error.errors(include_input=False, include_url=False)[0]["type"] != "json_invalid"
        reason = Reason.INVALID if is_json else Reason.UNDECODABLE
        raise SetAside(reason, first_fault(error, shown=False)) from None
    if read.is_still_to_come(now):
        raise SetAside(Reason.IN_THE_FUTURE, f"at: {read.at.isoformat()} is still to come")
    return Position(read.member_id, point(read.lat, read.lon), read.accuracy_m, read.at)


def kept(value: bytes) -> bytes:
    """What may be kept of a message that is no position: whose it was, and when."""
    try:
        message = orjson.loads(value) if len(value) <= MAX_BYTES else None
    except orjson.JSONDecodeError:
        message = None
    if not isinstance(message, dict):
        return orjson.dumps({"left_out": f"{len(value)} bytes that may say where a member was"})
    told = {name: message.get(name) for name in _KEPT}
    return orjson.dumps({name: text for name, text in told.items() if isinstance(text, str) and len(text) <= _LONGEST})
