"""What partners ask for, decided by the rate cards that are known."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from abacus.core.errors import OF_CARDS
from abacus.intake.earning.decide.calculate import Calculator
from abacus.intake.partners.decide.ask import Objection
from abacus.pricing.port import Cards

Decision = TypeVar("Decision")


class Calculations:
    """Decides by the cards in use. Every method raises `Unavailable` when no card was ever read."""

    def __init__(self, cards: Cards) -> None:
        self._cards = cards
        self._calculator: Calculator | None = None

    def current(self) -> Calculator:
        """By the cards as they are now."""
        book = self._cards.book()
        if self._calculator is None or self._calculator.book is not book:
            self._calculator = Calculator(book)
        return self._calculator

    async def by_cards(self, decide: Callable[[Calculator], Awaitable[Decision]]) -> Decision:
        """A decision by the cards that are known. If they lack something that it needs, they are read once more:
        perhaps it was published a moment ago.

        Raises what `decide` raises, and `Unavailable` when the cards cannot be read.
        """
        try:
            return await decide(self.current())
        except Objection as error:
            if error.kind not in OF_CARDS:
                raise
        return await decide(await self.anew())

    async def anew(self) -> Calculator:
        """By the cards as they are read now. Raises `Unavailable` when they cannot be read."""
        await self._cards.read_anew()
        return self.current()
