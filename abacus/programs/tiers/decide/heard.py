"""The keeper's reading of the points stream: points earned, and points reversed. Pure."""

from datetime import UTC, datetime
from typing import Final, NamedTuple

import orjson

from abacus.core.errors import SetAside, Unreadable
from abacus.core.points import MAX_POINTS
from abacus.ledger.types.kinds import FOR_TIERS, TransferKind
from abacus.ledger.types.point_event import TYPES
from abacus.ledger.types.read_point_event import PointEventReader, ReadEvent, read_explanation
from abacus.ledger.types.transfer import Transfer
from abacus.pricing.explanation.text import UnknownExplanation, read
from abacus.pricing.explanation.types import Reversed

_READ: Final = PointEventReader(*FOR_TIERS)


class Heard(NamedTuple):
    """Points that count, and when they were earned."""

    member_id: str
    program: str
    seq: int
    points: int
    country: str
    occurred_at: datetime


def heard_in(event: bytes) -> Heard | None:
    """The points that an event counts; None where it counts none. Raises `Unreadable`."""
    told = _READ(event)
    if told is None:
        return None
    heard = _heard(told)
    if told["type"] == TYPES[TransferKind.REVERSE]:
        return _taken_back(heard, event)
    return heard if heard.points else None


def _heard(told: ReadEvent) -> Heard:
    data = told["data"]
    if abs(data["points"]) > MAX_POINTS:
        raise Unreadable(f"points: no award carries {data['points']} points")
    # In UTC: pydantic's own zones make each later use of a time several times dearer.
    occurred_at = data["occurred_at"].astimezone(UTC)
    return Heard(data["member_id"], data["program"], data["seq"], data["points"], data["country"], occurred_at)


def _taken_back(heard: Heard, event: bytes) -> Heard | None:
    """Earned points that are taken back count as never earned, whether they were still there or not, on the day when
    they were earned; a spend that is given back never counted. An explanation of a later version is passed over: then
    the event's own points and day count.
    """
    try:
        return _as_explained(heard, orjson.dumps(read_explanation(event)))
    except SetAside as fault:
        raise Unreadable(f"explanation: {fault.detail}") from None


def heard_from(transfer: Transfer) -> Heard | None:
    """The points that the event of a transfer counts, as `heard_in` reads them. Raises `SetAside`."""
    if transfer.kind not in FOR_TIERS or abs(transfer.points) > MAX_POINTS:
        return None
    facts = (transfer.member_id, transfer.program, transfer.seq, transfer.points, transfer.country)
    heard = Heard(*facts, transfer.occurred_at)
    if transfer.kind == TransferKind.REVERSE:
        return _as_explained(heard, transfer.explanation)
    return heard if heard.points else None


def _as_explained(heard: Heard, text: bytes) -> Heard | None:
    try:
        explanation = read(text)
    except UnknownExplanation:
        explanation = None
    if isinstance(explanation, Reversed):
        if explanation.of_kind not in FOR_TIERS:
            return None
        heard = heard._replace(points=-explanation.due, occurred_at=explanation.occurred_at.astimezone(UTC))
    return heard if heard.points else None
