"""The rate cards as rooms use them."""

from typing import Protocol

from abacus.pricing.decide.book import CardBook


class Cards(Protocol):
    """The source of the rate cards; `CardReader` serves the last known cards while the database is down."""

    def book(self) -> CardBook:
        """Raises `Unavailable` when no card was ever read."""
        ...

    async def read_anew(self) -> None:
        """Returns after a reading that began later than this call. Raises `Unavailable` when it failed."""
        ...
