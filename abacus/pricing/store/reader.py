"""The cards that a worker calculates by: read in the background, served from memory, kept while the store is down."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

import structlog

from abacus.core.backoff import Backoff
from abacus.core.errors import Unavailable
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import PublishedCard

DEPENDENCY: Final = "rate cards"
LOOK_AGAIN_EVERY_S: Final = 1.0  # however many transactions of unknown countries arrive

_log = structlog.get_logger(__name__)


class CardReader:
    """Serves the last known cards. It never forgets them, and it never serves none.

    A card that was published already stays the same object from one reading to the next, so that what callers
    remember for it stays good.
    """

    def __init__(
        self,
        load: Callable[[], Awaitable[list[PublishedCard]]],
        *,
        refresh_every_s: float = 10.0,
        load_within_s: float = 5.0,
        monotonic: Callable[[], float] = time.monotonic,
        rng: random.Random | None = None,
    ) -> None:
        self._load = load
        self._refresh_every_s = refresh_every_s
        self._load_within_s = load_within_s
        self._monotonic = monotonic
        self._rng = rng or random.Random()
        self._backoff = Backoff(longest_s=refresh_every_s)
        self._one_at_a_time = asyncio.Lock()
        self._book: CardBook | None = None
        self._known: dict[str, PublishedCard] = {}
        self._why_not = "not read yet"
        self._tried_at = float("-inf")
        self._read_at = float("-inf")

    @property
    def age_s(self) -> float:
        """Seconds since the cards were last read; infinite before that."""
        return self._monotonic() - self._read_at

    def book(self) -> CardBook:
        """The last known cards. Raises `Unavailable` when none was ever read."""
        if self._book is None:
            raise Unavailable(DEPENDENCY, self._why_not)
        return self._book

    async def refresh(self) -> None:
        """Read the cards now. Raises `Unavailable` when that fails, and keeps what it has."""
        async with self._one_at_a_time:
            await self._read()

    async def look_again(self) -> None:
        """Before someone is told that a scope has no card: perhaps it was published a moment ago.

        Reads at most once a second. Raises `Unavailable` only while no cards are known at all.
        """
        async with self._one_at_a_time:
            if self._monotonic() - self._tried_at >= LOOK_AGAIN_EVERY_S:
                with suppress(Unavailable):
                    await self._read()
        self.book()

    async def keep_fresh(self) -> None:
        """Read the cards again and again until cancelled, the sooner while it fails for the first few times.

        Says once that it began to fail, and once that it recovered.
        """
        failures = 0
        while True:
            try:
                await self.refresh()
            except Unavailable as error:
                failures += 1
                if failures == 1:
                    _log.warning("rate cards cannot be read", why=str(error), serving_cards=len(self._known))
                await asyncio.sleep(self._backoff.wait(failures, self._rng))
            else:
                if failures:
                    _log.info("rate cards can be read again", after_failures=failures, serving_cards=len(self._known))
                failures = 0
                await asyncio.sleep(self._refresh_every_s * self._rng.uniform(0.8, 1.2))

    async def _read(self) -> None:
        began = self._tried_at = self._monotonic()
        try:
            cards = await self._loaded()
        except Unavailable as error:
            self._why_not = error.detail if error.dependency == DEPENDENCY else str(error)
            raise
        self._read_at = began
        by_name = {card.name: self._same(card) for card in cards}
        if self._book is None or by_name != self._known:
            self._book, self._known = CardBook(by_name.values()), by_name

    async def _loaded(self) -> list[PublishedCard]:
        try:
            async with asyncio.timeout(self._load_within_s):
                cards = await self._load()
        except TimeoutError:
            raise Unavailable(DEPENDENCY, f"not read within {self._load_within_s:g} s") from None
        if not cards:
            raise Unavailable(DEPENDENCY, "no rate card is published yet")
        return cards

    def _same(self, card: PublishedCard) -> PublishedCard:
        known = self._known.get(card.name)
        return known if known == card else card
