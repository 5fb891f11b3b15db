"""Segments as they are stored and told of. Pure values."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple, TypeAlias

from pyroaring import FrozenBitMap

# Members by their numbers, compressed: one in ten of 10,000,000 takes 1.25 MB, whichever they are.
Members: TypeAlias = FrozenBitMap

NOBODY: Final = Members()

# Gives the numbers of members.
Give: TypeAlias = Callable[[Collection[str]], Awaitable[Mapping[str, int]]]
COLUMN: Final = "member_id"  # of a file of members


class BadLine(NamedTuple):
    """A line without the id of a member, and why."""

    line: int
    problem: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.problem}"


class How(StrEnum):
    """What made a version of a segment."""

    LOAD = "load"
    ADD = "add"
    REMOVE = "remove"
    INTERSECT = "intersect"
    UNION = "union"
    SUBTRACT = "subtract"
    DROP = "drop"


class Segment(NamedTuple):
    """A version of a segment. With a country, only people with a right there may change it."""

    name: str
    version: int
    country: str | None
    how: str  # a `How`, or that of a newer Abacus
    size: int
    created_at: datetime
    created_by: str

    @property
    def label(self) -> str:
        return f"{self.name}@{self.version}"

    @property
    def dropped(self) -> bool:
        return self.how == How.DROP


class Changed(NamedTuple):
    """The version that is in force after a change. One that changed nothing made no version."""

    segment: Segment
    added: int
    removed: int
    made_a_version: bool


class Outlook(NamedTuple):
    """What a change would make of a segment. `before` is the version in force, where there is one. `idle` counts the
    members that are named and change nothing, and `strangers` have no account.
    """

    before: Segment | None
    size: int
    added: int
    removed: int
    idle: int = 0
    strangers: Sequence[str] = ()


class Held(NamedTuple):
    """The members of a version, as a process holds them. Version 0 stands for a segment that was never loaded."""

    name: str
    version: int
    members: Members
