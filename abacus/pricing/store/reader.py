"""The cards that a worker calculates by: read in the background, served from memory, kept while the store is down."""

import random
import time
from collections.abc import Awaitable, Callable
from typing import Final

from abacus.core.errors import Unavailable
from abacus.platform.fresh_copy import FreshCopy
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import PublishedCard

DEPENDENCY: Final = "rate cards"
_LOOK_AGAIN_EVERY_S: Final = 1.0  # however many transactions of unknown countries arrive

Load = Callable[[], Awaitable[list[PublishedCard]]]


class CardReader(FreshCopy[PublishedCard, CardBook]):
    """Serves the last known cards. It never forgets them, and it never serves none.

    A card that was published already stays the same object from one reading to the next, so values that callers
    keep for it stay good.
    """

    def __init__(
        self,
        load: Load,
        *,
        refresh_every_s: float = 10.0,
        load_within_s: float = 5.0,
        monotonic: Callable[[], float] = time.monotonic,
        rng: random.Random | None = None,
    ) -> None:
        super().__init__(
            DEPENDENCY,
            lambda: _some(load),
            key=lambda card: card.name,
            build=CardBook,
            refresh_every_s=refresh_every_s,
            load_within_s=load_within_s,
            look_again_every_s=_LOOK_AGAIN_EVERY_S,
            monotonic=monotonic,
            rng=rng,
        )

    def book(self) -> CardBook:
        """The last known cards. Raises `Unavailable` when none was ever read."""
        return self.value()


async def _some(load: Load) -> list[PublishedCard]:
    """Raises `Unavailable` when there is no card."""
    cards = await load()
    if not cards:
        raise Unavailable(DEPENDENCY, "no rate card is published yet")
    return cards
