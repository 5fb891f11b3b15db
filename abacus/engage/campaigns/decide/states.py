"""The states of a campaign's version, and who comes from which to which. Pure."""

from collections.abc import Collection, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final

from abacus.core.errors import Refused
from abacus.engage.campaigns.decide.campaign import Campaign


class Status(StrEnum):
    """What is recorded of a version. An approved one waits for its time, runs, or is over, as the clock says."""

    DRAFT = "draft"
    SUBMITTED = "submitted"
    APPROVED = "approved"
    PAUSED = "paused"
    EXHAUSTED = "exhausted"
    ENDED = "ended"


class State(StrEnum):
    """What people see."""

    DRAFT = "draft"
    SUBMITTED = "submitted"
    SCHEDULED = "scheduled"
    RUNNING = "running"
    PAUSED = "paused"
    EXHAUSTED = "exhausted"
    ENDED = "ended"


# From which states a version comes to each.
_BEFORE: Final[Mapping[Status, Collection[Status]]] = {
    Status.DRAFT: {Status.SUBMITTED},  # withdrawn, or rejected
    Status.SUBMITTED: {Status.DRAFT, Status.SUBMITTED},  # once more, after a rejection
    Status.APPROVED: {Status.SUBMITTED, Status.PAUSED},
    Status.PAUSED: {Status.APPROVED},
    Status.EXHAUSTED: {Status.APPROVED},
    Status.ENDED: {Status.DRAFT, Status.SUBMITTED, Status.APPROVED, Status.PAUSED, Status.EXHAUSTED},
}

_WORDS: Final[Mapping[Status, str]] = {
    Status.DRAFT: "withdrawn",
    Status.SUBMITTED: "submitted",
    Status.APPROVED: "resumed",
    Status.PAUSED: "paused",
    Status.EXHAUSTED: "exhausted",
    Status.ENDED: "ended",
}


def check_step(label: str, now: Status, then: Status) -> None:
    """Raises `Refused` where a version cannot come from one state to the other."""
    if now not in _BEFORE[then]:
        raise Refused(f"{label} is {now}, so it cannot be {_WORDS[then]}")


def state_at(campaign: Campaign, status: Status, now: datetime) -> State:
    """The state of a version at a moment."""
    if status in {Status.APPROVED, Status.PAUSED} and now >= campaign.ends_at:
        return State.ENDED
    if status is Status.APPROVED:
        return State.RUNNING if now >= campaign.starts_at else State.SCHEDULED
    return State(status.value)
