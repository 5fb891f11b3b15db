"""A chapter: what one capability did in these months, and where to look at it."""

from collections.abc import Sequence
from datetime import date
from typing import ClassVar, NamedTuple

from abacus.cli.demo.story.house import House
from abacus.programs.expiry.decide.month import Month


class Look(NamedTuple):
    """A page of the console, who sees it best, and what to look at."""

    person_id: str
    path: str
    sentence: str


class Chapter:
    """Each step does nothing unless a chapter says what. Chapters take their steps in the order of the registry."""

    looks: ClassVar[Sequence[Look]] = ()

    def __init__(self, house: House) -> None:
        self.house = house

    async def begin(self) -> None:
        """Before the first day."""

    async def day(self, day: date) -> None:
        """Once each day. The clock is in it, and may walk on within it."""

    async def month_ended(self, month: Month) -> None:
        """On the first day of the next month, when the house has settled."""

    async def end(self) -> None:
        """After the last day, when the clock is in the present."""
