"""Parts of a page, each loaded by itself: one whose dependency is down says so, and the others are there."""

from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

Value = TypeVar("Value")


@dataclass(frozen=True)
class Down:
    """What does not answer, since when, and how it failed."""

    dependency: str
    since: datetime
    detail: str


@dataclass(frozen=True)
class Part(Generic[Value]):
    """The value, or the dependency that is down."""

    value: Value | None
    down: Down | None = None
