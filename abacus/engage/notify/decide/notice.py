"""A notice: the news that one event holds for its member. Pure."""

from datetime import UTC, datetime
from typing import Annotated, Final, NamedTuple

from pydantic import BaseModel, Field, StringConstraints, ValidationError

from abacus.core.errors import Unreadable
from abacus.core.ids import ID_PATTERN, KEY_PATTERN, PROGRAM_PATTERN
from abacus.engage.notify.decide.news import Earned, Expired, News, Portion, TierChanged
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.point_event import TYPES
from abacus.ledger.types.read_point_event import PointEventReader, ReadEvent, type_of
from abacus.platform.validation import Day, Moment, first_fault

_LARGEST: Final = 2**63 - 1
_Points = Annotated[int, Field(strict=True, ge=-_LARGEST, le=_LARGEST)]
_Word = Annotated[str, StringConstraints(pattern=ID_PATTERN)]


class Notice(NamedTuple):
    """The event's id identifies the notice, however often the event is read. `seq` orders events of the same time.
    Where a cap leaves no room for all, the highest `priority` is told first.
    """

    member_id: str
    event_id: str
    happened_at: datetime
    seq: int
    news: News
    priority: int = 0


class _TierData(BaseModel):
    member_id: _Word
    program: Annotated[str, StringConstraints(pattern=PROGRAM_PATTERN)]
    country: Annotated[str, StringConstraints(pattern=r"^[A-Z]{2}$")] | None = None
    from_tier: Annotated[_Word, Field(alias="from")]
    to_tier: Annotated[_Word, Field(alias="to")]
    reason: _Word = "unknown"
    earned: _Points | None = None
    until: Day | None = None


class _TierEvent(BaseModel):
    id: Annotated[str, StringConstraints(pattern=KEY_PATTERN)]
    time: Moment
    data: _TierData


_EARNED: Final = TYPES[TransferKind.EARN]
_READ: Final = PointEventReader(TransferKind.EARN, TransferKind.EXPIRE, values_shown=False)
_TIER_CHANGED: Final = "abacus.tier.changed.v1"


def heard(event: bytes) -> Notice | None:
    """The notice that an event of the points or tiers topic makes; None for a type that no member is told of.

    Raises `Unreadable`, which repeats nothing of the event.
    """
    points = _READ(event)
    if points is not None:
        return _earned(points) if points["type"] == _EARNED else _expired(points)
    if type_of(event) != _TIER_CHANGED:
        return None
    try:
        return _tier_changed(_TierEvent.model_validate_json(event))
    except ValidationError as error:
        raise Unreadable(first_fault(error, shown=False)) from None


def _earned(event: ReadEvent) -> Notice | None:
    data = event["data"]
    if data["points"] <= 0:  # an amount that rounded to nothing is posted too
        return None
    lifetime, day = data.get("lifetime"), data["expires_on"]
    part = Earned(
        program=data["program"],
        country=data["country"],
        points=data["points"],
        count=1,
        balance=data["balance"],
        expires_on=day if lifetime is False else None,  # an earlier version did not say whose day it is
        lots=(Portion(points=data["points"], expires_on=day),) if lifetime and day is not None else (),
        lifetime=lifetime is True,
    )
    return Notice(data["member_id"], event["id"], event["time"].astimezone(UTC), data["seq"], part)


def _expired(event: ReadEvent) -> Notice | None:
    data = event["data"]
    if data["points"] == 0:
        return None
    part = Expired(
        program=data["program"],
        country=data["country"],
        points=abs(data["points"]),
        count=1,
        balance=data["balance"],
        lifetime=data.get("lifetime") is True,
    )
    return Notice(data["member_id"], event["id"], event["time"].astimezone(UTC), data["seq"], part)


def _tier_changed(event: _TierEvent) -> Notice | None:
    data = event.data
    if data.from_tier == data.to_tier:
        return None
    part = TierChanged(
        program=data.program,
        country=data.country,
        from_tier=data.from_tier,
        to_tier=data.to_tier,
        reason=data.reason,
        earned=data.earned,
        until=data.until,
    )
    number = event.id.rpartition(":")[2]
    is_number = number.isascii() and number.isdecimal() and len(number) < len(str(_LARGEST))
    return Notice(data.member_id, event.id, event.time, int(number) if is_number else 0, part)
