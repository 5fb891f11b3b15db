"""What every page of the console stands on."""

from dataclasses import dataclass

from abacus.console.entry.door import Door
from abacus.console.entry.sessions import SessionStore
from abacus.console.entry.types import Address
from abacus.console.read_side import ReadSide, Replica
from abacus.console.web.parts import Outages
from abacus.core.clock import Clock
from abacus.core.errors import SetAside, Unavailable
from abacus.platform.postgres import Pool
from abacus.platform.rooms import Rooms
from abacus.pricing.decide.card import RateCard
from abacus.pricing.store.cards import CardReader


@dataclass(frozen=True)
class Premises:
    """The console's own: how people get in, what is shown from, and the rooms that pages ask. `erases`: the process has
    the login for it. `replica`: where there is one.
    """

    address: Address
    clock: Clock
    pool: Pool
    outages: Outages
    door: Door
    sessions: SessionStore
    here: ReadSide
    rooms: Rooms
    erases: bool
    replica: Replica | None = None

    def card_of(self, country: str) -> RateCard | None:
        """The card that is in force in the country, if one is known."""
        try:
            return self.rooms[CardReader].book().in_force(country, self.clock.now()).card
        except (SetAside, Unavailable):
            return None

    def countries(self) -> list[str]:
        """The countries with a rate card, as far as cards can be read."""
        try:
            return self.rooms[CardReader].book().countries()
        except Unavailable:
            return []
