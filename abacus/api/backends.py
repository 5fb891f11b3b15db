"""The stores, readers and batchers that the routes of the API call."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from abacus.core.clock import Clock
from abacus.core.errors import OF_CARDS
from abacus.engage.campaigns.desk import CampaignDesk
from abacus.engage.notify.preferences import PreferenceStore
from abacus.intake.earning.decide.calculate import Calculator
from abacus.intake.earning.deciding import Cards, Tiers
from abacus.intake.partners.award_intake import AwardIntake
from abacus.intake.partners.decide.ask import Objection
from abacus.intake.partners.decide.partner import Partner
from abacus.intake.partners.members import MemberReader
from abacus.intake.partners.movement_batcher import MovementBatcher
from abacus.intake.partners.register import Register
from abacus.intake.partners.signing_secrets import SigningSecrets
from abacus.intake.partners.watch import Watch
from abacus.ledger.decide.allowance import Allowance
from abacus.ledger.store.holds import HoldReader
from abacus.ledger.store.large_moves import LargeMoves
from abacus.ledger.store.read import LedgerReader
from abacus.people.directory import PeopleDirectory
from abacus.platform.health import Health
from abacus.platform.rate_limits.limiter import RateLimiter
from abacus.signals.counters.reading.service import CountService
from abacus.signals.events.posting import EventDesk

Decision = TypeVar("Decision")

LIVE: Final = "live"
TEST: Final = "test"


class PartnerDirectory(Protocol):
    """Finds the partner of a key. Both methods raise `Unavailable` when no partners were ever read."""

    async def find(self, text: str) -> Partner | None: ...

    def allowance(self, partner_id: str) -> Allowance: ...


@dataclass(slots=True)
class Backends:
    """One for each process, and one more for the sandbox."""

    clock: Clock
    health: Health
    cards: Cards
    tiers: Tiers
    directory: PartnerDirectory
    people: PeopleDirectory
    signing_secrets: SigningSecrets
    award_intake: AwardIntake
    register: Register
    watch: Watch
    members: MemberReader
    ledger: LedgerReader
    preferences: PreferenceStore
    events: EventDesk
    movement_batcher: MovementBatcher
    holds: HoldReader
    large_moves: LargeMoves
    limiter: RateLimiter
    campaigns: CampaignDesk | None = None  # none runs in the sandbox
    sandbox: "Backends | None" = None  # for test keys; it has none itself
    mode: str = LIVE
    _calculator: Calculator | None = None

    def label(self, partner_id: str) -> str:
        """The partner's name in metrics, which count its awards in the sandbox apart."""
        return partner_id if self.mode == LIVE else f"{self.mode}:{partner_id}"

    def calculator(self) -> Calculator:
        """By the cards as they are now. Raises `Unavailable` when none was ever read."""
        book = self.cards.book()
        if self._calculator is None or self._calculator.book is not book:
            self._calculator = Calculator(book)
        return self._calculator

    async def by_cards(self, decide: Callable[[Calculator], Awaitable[Decision]]) -> Decision:
        """A decision by the cards that are known. If they lack something that it needs, they are read once more:
        perhaps it was published a moment ago.

        Raises what `decide` raises, and `Unavailable` when the cards cannot be read.
        """
        try:
            return await decide(self.calculator())
        except Objection as error:
            if error.kind not in OF_CARDS:
                raise
        await self.cards.read_anew()
        return await decide(self.calculator())


@dataclass(slots=True)
class CountBackends:
    """What the application of the counts calls: one for each process. Test keys have no counters."""

    clock: Clock
    health: Health
    directory: PartnerDirectory
    people: PeopleDirectory
    signing_secrets: SigningSecrets
    limiter: RateLimiter
    counting: CountService
    sandbox: None = None
    mode: str = LIVE
