"""How long a session holds. Pure."""

from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from abacus.console.entry.types import Session, SessionLimits

_NOTE_AFTER: Final = timedelta(minutes=1)
_UTC: Final = "UTC"


def holds(session: Session, limits: SessionLimits, now: datetime) -> bool:
    return session.ended_at is None and now < ends_at(session, limits)


def ends_at(session: Session, limits: SessionLimits) -> datetime:
    """When it ends if nobody uses it any more."""
    return min(session.started_at + limits.whole, session.seen_at + limits.idle)


def needs_note(session: Session, limits: SessionLimits, now: datetime) -> bool:
    """Whether its use is written down: not for each request, and often enough for the limit."""
    return now - session.seen_at >= min(_NOTE_AFTER, limits.idle / 10)


def zone_of(name: str) -> str:
    """The time zone of this name, as a browser or a person gave it; UTC where there is none."""
    try:
        return ZoneInfo(name).key
    except (ValueError, OSError, ZoneInfoNotFoundError):
        return _UTC
