"""Parts of a page, each loaded by itself: one whose dependency is down says so, and the others are there."""

from collections.abc import Awaitable
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from abacus.console.outages import Outages
from abacus.core.errors import Unavailable

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


async def part(loading: Awaitable[Value], outages: Outages) -> Part[Value]:
    try:
        return Part(await loading)
    except Unavailable as error:
        return Part(None, Down(error.dependency, outages.failed(error.dependency), error.detail))
