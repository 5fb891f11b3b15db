"""What the keeper hears from the points stream: points earned, and points reversed. Pure."""

from datetime import UTC, datetime
from typing import Annotated, Any, Final, NamedTuple

from pydantic import Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from abacus.core.errors import Unreadable
from abacus.core.points import MAX_POINTS
from abacus.ledger.types.award import Kind
from abacus.ledger.types.point_event import TYPES
from abacus.ledger.types.read_point_event import PointEventReader, ReadEvent, read_explanation
from abacus.platform.validation import Moment, first_fault

# Whatever else happens to points does not change what was earned.
_READ: Final = PointEventReader(Kind.EARN, Kind.REVERSE)


class Heard(NamedTuple):
    """Points that count, and when they were earned."""

    member_id: str
    program: str
    seq: int
    points: int
    country: str
    occurred_at: datetime


class _Award(TypedDict):
    due: Annotated[int, Field(strict=True, ge=-MAX_POINTS, le=MAX_POINTS)]
    occurred_at: Moment


_AWARD: Final = TypeAdapter(_Award)


def heard_in(event: bytes) -> Heard | None:
    """The points that an event counts; nothing for one that counts none. Raises `Unreadable`."""
    read = _READ(event)
    if read is None:
        return None
    heard = _heard(read)
    if read["type"] == TYPES[Kind.REVERSE]:
        return _taken_back(heard, read_explanation(event))
    return heard if heard.points else None


def _heard(read: ReadEvent) -> Heard:
    data = read["data"]
    if abs(data["points"]) > MAX_POINTS:
        raise Unreadable(f"points: no award carries {data['points']} points")
    # In UTC: pydantic's own zones make each later use of a time several times dearer.
    occurred_at = data["occurred_at"].astimezone(UTC)
    return Heard(data["member_id"], data["program"], data["seq"], data["points"], data["country"], occurred_at)


def _taken_back(heard: Heard, explanation: dict[str, Any]) -> Heard | None:
    """What was earned and is taken back was never earned, whether the points were still there or not. It counts when
    they were earned; a spend that is given back never counted.
    """
    if explanation.get("of_kind", Kind.EARN) != Kind.EARN:
        return None
    if "due" in explanation:
        try:
            award = _AWARD.validate_python(explanation)
        except ValidationError as error:
            raise Unreadable(f"explanation: {first_fault(error)}") from None
        heard = heard._replace(points=-award["due"], occurred_at=award["occurred_at"])
    return heard if heard.points else None
