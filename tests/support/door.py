"""The door of the award queue for tests: cards that stand still."""

from collections.abc import Collection
from typing import Final

from abacus.core.clock import Clock
from abacus.core.signature import Verifier
from abacus.intake.awarding.door import Door
from abacus.pricing.decide.book import CardBook
from tests.support.cards import BOOK

NOBODY_SIGNS: Final = Verifier()


class StandingCards:
    """Always the same cards."""

    def __init__(self, book: CardBook = BOOK) -> None:
        self._book = book

    def book(self) -> CardBook:
        return self._book

    async def read_anew(self) -> None:
        """They are as new as they get."""


class StandingCampaigns:
    """Always the same names."""

    def __init__(self, *names: str) -> None:
        self._names = frozenset(names)

    async def unknown(self, names: Collection[str]) -> frozenset[str]:
        return frozenset(names) - self._names


def door(clock: Clock, verifier: Verifier = NOBODY_SIGNS, *campaigns: str) -> Door:
    """With campaigns of these names."""
    return Door(StandingCards(), clock, verifier, StandingCampaigns(*campaigns))
