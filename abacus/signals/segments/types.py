"""Segments as they are stored and told of. Pure values."""

from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple, TypeAlias

from pyroaring import FrozenBitMap

# Members by their numbers, compressed: one in ten of 10,000,000 takes 1.25 MB, whichever they are.
Members: TypeAlias = FrozenBitMap

NOBODY: Final = Members()


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


class Held(NamedTuple):
    """The members of a version, as a process holds them. Version 0 stands for a segment that was never loaded."""

    name: str
    version: int
    members: Members
