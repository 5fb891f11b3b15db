"""What the keeper hears from the points stream: points earned, and points reversed. Pure."""

from datetime import datetime
from typing import Annotated, Any, Final, NamedTuple

import orjson
from pydantic import Field, StringConstraints, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from abacus.core.errors import AbacusError, SetAside
from abacus.core.ids import ID_PATTERN, PROGRAM_PATTERN
from abacus.core.points import MAX_POINTS
from abacus.ledger.types.account import MAX_BALANCE
from abacus.ledger.types.award import Kind
from abacus.platform.validation import Moment, first_fault
from abacus.pricing.explanation.text import UnknownExplanation, read
from abacus.pricing.explanation.types import Reversed

# Whatever else happens to points does not change what was earned.
_EARNED: Final = "abacus.points.earned.v1"
_REVERSED: Final = "abacus.points.reversed.v1"
_COUNTED: Final = frozenset({_EARNED, _REVERSED})


class UnreadableEvent(AbacusError):
    """The event does not say whose points it counts, or when."""


class Heard(NamedTuple):
    """Points that count. The fields stand in the order of the message's."""

    member_id: str
    program: str
    seq: int
    points: int
    country: str
    occurred_at: datetime


class _Data(TypedDict):
    member_id: Annotated[str, StringConstraints(pattern=ID_PATTERN)]
    program: Annotated[str, StringConstraints(pattern=PROGRAM_PATTERN)]
    seq: Annotated[int, Field(strict=True, ge=1, le=MAX_BALANCE)]
    points: Annotated[int, Field(strict=True, ge=-MAX_POINTS, le=MAX_POINTS)]
    country: Annotated[str, StringConstraints(pattern=r"^[A-Z]{2}$")]
    occurred_at: Moment


_DATA: Final[TypeAdapter[_Data]] = TypeAdapter(_Data)


def heard_in(event: bytes) -> Heard | None:
    """The points that an event counts; nothing for one that counts none. Raises `UnreadableEvent`."""
    try:
        document: dict[str, Any] = orjson.loads(event)
        if document["type"] not in _COUNTED:
            return None
        if document["type"] == _REVERSED:
            return _taken_back(document["data"])
        data = _DATA.validate_python(document["data"])
    except ValidationError as error:
        raise UnreadableEvent(first_fault(error)) from None
    except SetAside as error:
        raise UnreadableEvent(f"its explanation: {error.detail}") from None
    except (ValueError, TypeError, KeyError) as error:
        raise UnreadableEvent(f"not a point event: {error!r}") from None
    return Heard(**data) if data["points"] else None


def _taken_back(reversal: dict[str, Any]) -> Heard | None:
    """What was earned and is taken back was never earned, whether the points were still there or not. It counts when
    they were earned; a spend that is given back never counted.
    """
    try:
        explanation = read(orjson.dumps(reversal["explanation"]))
    except UnknownExplanation:  # of a later version: then it counts as the event says
        explanation = None
    if isinstance(explanation, Reversed):
        if explanation.of_kind != Kind.EARN:
            return None
        reversal = {**reversal, "points": -explanation.due, "occurred_at": explanation.occurred_at}
    data = _DATA.validate_python(reversal)
    return Heard(**data) if data["points"] else None
