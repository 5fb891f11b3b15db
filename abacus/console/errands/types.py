"""An errand: a command of the command line that the console runs for a person, with what it printed."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple
from uuid import UUID

from abacus.core.errors import AbacusError

ERASE: Final = "erase"  # the one kind that needs the login that owns the tables
NO_PAPERS: Final[Mapping[str, str]] = MappingProxyType({})


class State(StrEnum):
    """Where an errand is. Done means that the command said what it had to say, be it good or bad."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_open(self) -> bool:
        return self in {State.WAITING, State.RUNNING}


class TooMany(AbacusError):
    """The person has as many errands as one may have. The message is for that person."""


class Room(NamedTuple):
    """How many errands one person may have open, and may ask for in an hour."""

    open: int = 10
    in_an_hour: int = 60

    def check(self, open_: int, in_an_hour: int) -> None:
        """Raises `TooMany` for a person with this many open errands, and this many in the last hour."""
        if open_ >= self.open:
            raise TooMany(f"{open_} tasks of yours wait or run; wait until one has ended, or cancel one")
        if in_an_hour >= self.in_an_hour:
            raise TooMany(
                f"You asked for {in_an_hour} tasks in the last hour, which is as many as one may; wait a while"
            )


class Order(NamedTuple):
    """What is to be run. Pages find it again by its kind and its subject.

    `country`: whose roles may see what comes of it; None: roles of all countries. `papers` are the files that the
    command reads, by the names that stand in its arguments; `keeps` names the files that it writes.
    """

    kind: str
    subject: str
    country: str | None
    arguments: tuple[str, ...]
    papers: Mapping[str, str] = NO_PAPERS
    keeps: tuple[str, ...] = ()


class Errand(NamedTuple):
    """A row of `console_errand`. `command` is what a person would type; `told` is what the command said of a failure,
    or of things that a person should know.
    """

    errand_id: UUID
    kind: str
    subject: str
    country: str | None
    command: str
    arguments: list[str]
    papers: str
    keeps: list[str]
    asked_by: str
    asked_at: datetime
    state: State = State.WAITING
    started_at: datetime | None = None
    seen_at: datetime | None = None
    ended_at: datetime | None = None
    progress: str | None = None
    exit_code: int | None = None
    told: str | None = None


class Narrowed(NamedTuple):
    """What a list of errands is narrowed to: errands that were asked for since a time and before another one."""

    state: State | None = None
    kind: str | None = None
    country: str | None = None
    since: datetime | None = None
    until: datetime | None = None


EVERYTHING: Final = Narrowed()


class ErrandOutcome(NamedTuple):
    """How a command ended. `output` is the document that it printed; `files` it was to keep."""

    state: State
    exit_code: int | None
    told: str | None
    output: bytes | None = None
    files: Mapping[str, bytes] = MappingProxyType({})
