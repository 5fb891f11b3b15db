"""The cards that a worker calculates by: read in the background, served from memory, kept while the store is down."""

from collections.abc import Awaitable, Callable, Mapping

from abacus.core.errors import Unavailable
from abacus.platform.fresh_copy import USUAL, Cadence, FreshCopy
from abacus.pricing.decide.book import DEPENDENCY, CardBook
from abacus.pricing.decide.card import PublishedCard

Load = Callable[[Mapping[str, PublishedCard]], Awaitable[list[PublishedCard]]]


class CardReader(FreshCopy[list[PublishedCard], CardBook]):
    """Serves the last known cards. It never forgets them, and it never serves none.

    A card that was published already stays the same object from one reading to the next, so values that callers
    keep for it stay good. `load` gets the cards that are known, by name, and need not read them again.
    """

    def __init__(self, load: Load, cadence: Cadence = USUAL) -> None:
        async def some(before: list[PublishedCard] | None) -> list[PublishedCard]:
            """Raises `Unavailable` when there is no card."""
            cards = await load({card.name: card for card in before or ()})
            if not cards:
                raise Unavailable(DEPENDENCY, "no rate card is published yet")
            return cards

        super().__init__(DEPENDENCY, some, CardBook, cadence)

    def book(self) -> CardBook:
        """The last known cards. Raises `Unavailable` when none was ever read."""
        return self.value()
