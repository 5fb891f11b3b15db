"""The cards that a worker calculates by: read in the background, served from memory, kept while the store is down."""

import random
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from abacus.core.errors import Unavailable
from abacus.platform.fresh_copy import FreshCopy
from abacus.pricing.decide.book import DEPENDENCY, CardBook
from abacus.pricing.decide.card import PublishedCard

_LOOK_AGAIN_EVERY_S: Final = 0.05  # however many transactions of unknown countries arrive

Load = Callable[[Mapping[str, PublishedCard]], Awaitable[list[PublishedCard]]]


class CardReader(FreshCopy[PublishedCard, CardBook]):
    """Serves the last known cards. It never forgets them, and it never serves none.

    A card that was published already stays the same object from one reading to the next, so values that callers
    keep for it stay good. `load` gets the cards that are known, by name, and need not read them again.
    """

    def __init__(
        self,
        load: Load,
        *,
        refresh_every_s: float = 10.0,
        load_within_s: float = 5.0,
        look_again_every_s: float = _LOOK_AGAIN_EVERY_S,
        monotonic: Callable[[], float] = time.monotonic,
        rng: random.Random | None = None,
    ) -> None:
        self._known: dict[str, PublishedCard] = {}
        super().__init__(
            DEPENDENCY,
            lambda: self._some(load),
            key=lambda card: card.name,
            build=CardBook,
            refresh_every_s=refresh_every_s,
            load_within_s=load_within_s,
            look_again_every_s=look_again_every_s,
            monotonic=monotonic,
            rng=rng,
        )

    def book(self) -> CardBook:
        """The last known cards. Raises `Unavailable` when none was ever read."""
        return self.value()

    async def _some(self, load: Load) -> list[PublishedCard]:
        """Raises `Unavailable` when there is no card."""
        cards = await load(self._known)
        if not cards:
            raise Unavailable(DEPENDENCY, "no rate card is published yet")
        self._known = {card.name: card for card in cards}
        return cards
