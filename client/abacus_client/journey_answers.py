"""The answers about journeys, as frozen values."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class EntryState:
    """What became of an entry that was asked for: `waiting`, `entered`, or `refused` for a reason."""

    asked_at: datetime
    status: str
    why: str | None = None


@dataclass(frozen=True, slots=True)
class JourneyEntry:
    """The entry of a member to a journey: `waiting`, `entered`, or `refused` for a reason."""

    journey: str
    member_id: str
    asked_at: datetime
    status: str
    why: str | None = None


@dataclass(frozen=True, slots=True)
class JourneyVisit:
    """A visit of a member, who waits at `node` since a time, or has left for a reason."""

    visit: int
    version: int
    entered_at: datetime
    node: str | None = None
    since: datetime | None = None
    left_at: datetime | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True)
class JourneyMember:
    """Where a member is in a journey, and the entries that were asked for."""

    journey: str
    member_id: str
    visits: tuple[JourneyVisit, ...]
    entries: tuple[EntryState, ...]
