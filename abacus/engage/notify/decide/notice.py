"""A notice: what one event says that its member should be told. Pure."""

from datetime import datetime
from typing import Annotated, Any, Final, NamedTuple

import orjson
from pydantic import BaseModel, Field, StringConstraints, ValidationError

from abacus.core.errors import AbacusError
from abacus.core.ids import ID_PATTERN, KEY_PATTERN, PROGRAM_PATTERN
from abacus.engage.notify.decide.news import Earned, Expired, News, TierChanged
from abacus.platform.validation import Day, Moment, first_fault

_LARGEST: Final = 2**63 - 1
_Points = Annotated[int, Field(strict=True, ge=-_LARGEST, le=_LARGEST)]
_Word = Annotated[str, StringConstraints(pattern=ID_PATTERN)]


class Notice(NamedTuple):
    """The event's id is what makes it the same notice, however often the event is read. `seq` orders what happened at
    the same time.
    """

    member_id: str
    event_id: str
    happened_at: datetime
    seq: int
    news: News


class Unreadable(AbacusError):
    """The event says nothing that a member could be told."""


class _Data(BaseModel):
    member_id: _Word
    program: Annotated[str, StringConstraints(pattern=PROGRAM_PATTERN)]


_Country = Annotated[str, StringConstraints(pattern=r"^[A-Z]{2}$")]


class _PointsData(_Data):
    country: _Country
    seq: Annotated[int, Field(strict=True, ge=1, le=_LARGEST)]
    points: _Points
    balance: _Points
    expires_on: Day | None = None


class _TierData(_Data):
    country: _Country | None = None
    from_tier: Annotated[_Word, Field(alias="from")]
    to_tier: Annotated[_Word, Field(alias="to")]
    reason: _Word = "unknown"
    earned: _Points | None = None
    until: Day | None = None


class _Event(BaseModel):
    id: Annotated[str, StringConstraints(pattern=KEY_PATTERN)]
    time: Moment


class _PointsEvent(_Event):
    data: _PointsData


class _TierEvent(_Event):
    data: _TierData


def heard(event: bytes) -> Notice | None:
    """What an event of the points or tiers topic says to its member; nothing, for a type that no member is told of.

    Raises `Unreadable`.
    """
    try:
        document = orjson.loads(event)
        found = _READERS.get(document["type"])
        return found(document) if found else None
    except ValidationError as error:
        raise Unreadable(first_fault(error, shown=False)) from None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise Unreadable(f"not an event: {type(error).__name__}") from None


def _earned(document: Any) -> Notice | None:
    event = _PointsEvent.model_validate(document)
    data = event.data
    if data.points <= 0:  # an amount that rounded to nothing is posted too
        return None
    part = Earned(
        program=data.program,
        country=data.country,
        points=data.points,
        count=1,
        balance=data.balance,
        expires_on=data.expires_on,
    )
    return Notice(data.member_id, event.id, event.time, data.seq, part)


def _expired(document: Any) -> Notice | None:
    event = _PointsEvent.model_validate(document)
    data = event.data
    if data.points == 0:
        return None
    part = Expired(program=data.program, country=data.country, points=abs(data.points), count=1, balance=data.balance)
    return Notice(data.member_id, event.id, event.time, data.seq, part)


def _tier_changed(document: Any) -> Notice | None:
    event = _TierEvent.model_validate(document)
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


_READERS: Final = {
    "abacus.points.earned.v1": _earned,
    "abacus.points.expired.v1": _expired,
    "abacus.tier.changed.v1": _tier_changed,
}
