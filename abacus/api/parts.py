"""What the API's routes work with."""

from dataclasses import dataclass, field

from abacus.core.clock import Clock
from abacus.earning.calculate import Calculator
from abacus.earning.issuing import Cards, Tiers
from abacus.health import Health
from abacus.ledger.adjustments import Adjustments
from abacus.ledger.holds import HoldReader
from abacus.ledger.read import LedgerReader
from abacus.notify.preferences import PreferenceStore
from abacus.partners.directory import Directory
from abacus.partners.door import Door
from abacus.partners.limiter import RateLimiter
from abacus.partners.members import MemberReader
from abacus.partners.register import Register
from abacus.partners.till import Till
from abacus.partners.watch import Watch


@dataclass(slots=True)
class Parts:
    """One for each process."""

    clock: Clock
    health: Health
    cards: Cards
    tiers: Tiers
    directory: Directory
    door: Door
    register: Register
    watch: Watch
    members: MemberReader
    ledger: LedgerReader
    preferences: PreferenceStore
    till: Till
    holds: HoldReader
    adjustments: Adjustments
    limiter: RateLimiter = field(default_factory=RateLimiter)
    _calculator: Calculator | None = None

    def calculator(self) -> Calculator:
        """By the cards as they are now. Raises `Unavailable` when none was ever read."""
        book = self.cards.book()
        if self._calculator is None or self._calculator.book is not book:
            self._calculator = Calculator(book)
        return self._calculator
