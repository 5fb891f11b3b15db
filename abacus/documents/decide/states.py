"""The states of a version that runs for a time once a second person has approved it, and the acts that lead from one to
another. Pure.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple, Protocol

from abacus.core.errors import Refused


class Timed(Protocol):
    """A document that holds from one moment to another, as a campaign does."""

    @property
    def label(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def starts_at(self) -> datetime: ...
    @property
    def ends_at(self) -> datetime: ...


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


class Act(StrEnum):
    """What is done to a version, by people or by the house."""

    SUBMIT = "submit"
    WITHDRAW = "withdraw"
    APPROVE = "approve"
    PAUSE = "pause"
    RESUME = "resume"
    EXHAUST = "exhaust"
    END = "end"
    REPLACE = "replace"  # by another version


class _Way(NamedTuple):
    """The states that an act begins in, the state that it leads to, and the act as people hear of it."""

    before: Collection[Status]
    then: Status
    done: str


_WAYS: Final[Mapping[Act, _Way]] = {
    Act.SUBMIT: _Way({Status.DRAFT, Status.SUBMITTED}, Status.SUBMITTED, "submitted"),
    Act.WITHDRAW: _Way({Status.SUBMITTED}, Status.DRAFT, "withdrawn"),
    Act.APPROVE: _Way({Status.SUBMITTED}, Status.APPROVED, "approved"),
    Act.PAUSE: _Way({Status.APPROVED}, Status.PAUSED, "paused"),
    Act.RESUME: _Way({Status.PAUSED}, Status.APPROVED, "resumed"),
    Act.EXHAUST: _Way({Status.APPROVED}, Status.EXHAUSTED, "exhausted"),
    Act.END: _Way({Status.DRAFT, Status.APPROVED, Status.PAUSED, Status.EXHAUSTED}, Status.ENDED, "ended"),
    Act.REPLACE: _Way(set(Status) - {Status.ENDED}, Status.ENDED, "replaced"),
}
OUT_OF_FORCE: Final = {Act.END, Act.WITHDRAW}  # what people do to a version that is not to hold
_OF_ITS_TIME: Final = {Act.PAUSE, Act.RESUME, Act.EXHAUST, Act.END}  # what is over by the clock stays so


class WrongState(Refused):
    """The state of a version does not allow the act."""


def may_follow(status: Status, act: Act) -> bool:
    """Whether the act begins in this state."""
    return status in _WAYS[act].before


def check_step(timed: Timed, status: Status, act: Act, now: datetime) -> Status:
    """The state that the act leads to. Raises `WrongState` where it cannot be done."""
    before, then, done = _WAYS[act]
    state = state_at(timed, status, now)
    is_over = act in _OF_ITS_TIME and state is State.ENDED
    if status not in before or is_over:
        raise WrongState(f"{timed.label} is {state}, so it cannot be {done}")
    return then


def state_at(timed: Timed, status: Status, now: datetime) -> State:
    """The state of a version at a moment."""
    if status in {Status.APPROVED, Status.PAUSED} and now >= timed.ends_at:
        return State.ENDED
    if status is Status.APPROVED:
        return State.RUNNING if now >= timed.starts_at else State.SCHEDULED
    return State(status.value)
