"""Sums of what was posted, by time and by how long it took. Pure values."""

from datetime import datetime, timedelta
from enum import StrEnum
from math import inf
from typing import Final, NamedTuple

# Seconds from a transaction to its points: a sum counts awards that took so long at most, and longer than the bound
# before it.
BOUNDS_S: Final = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 2.0, 3.0, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0, 86400.0, inf)


class Step(StrEnum):
    """How much time a sum is of."""

    MINUTE = "minute"
    QUARTER = "quarter"

    @property
    def length(self) -> timedelta:
        return _LENGTHS[self]

    @property
    def kept(self) -> timedelta:
        """How long its sums are kept."""
        return _KEPT[self]


class Sum(NamedTuple):
    """Awards that were posted in a country in a step that began then and took no longer than that, and their points."""

    step: Step
    since: datetime
    country: str
    within_s: float
    awards: int
    points: int


class Summed(NamedTuple):
    """The same of several countries together."""

    since: datetime
    within_s: float
    awards: int
    points: int


_LENGTHS: Final = {Step.MINUTE: timedelta(minutes=1), Step.QUARTER: timedelta(minutes=15)}
_KEPT: Final = {Step.MINUTE: timedelta(hours=6), Step.QUARTER: timedelta(days=35)}
