"""What people do with rate cards: published or asked for, withdrawn and restored, with the log."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from abacus.core.clock import Clock
from abacus.documents.approved_desk import ApprovedDesk
from abacus.documents.types import Difference, DraftOutcome, Record
from abacus.people.store.approvals import Approvals
from abacus.people.types.approval import Approval, ApprovalKind
from abacus.people.types.person import Actor
from abacus.platform.postgres import Pool
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import RateCard, country_of
from abacus.pricing.kind import CARDS, alone
from abacus.pricing.store.cards import CardStore


class CardDesk(ApprovedDesk[RateCard, None]):
    """Callers check rights. Every method raises `Unavailable` while the database is away, and `Refused` for what cannot
    be done.
    """

    def __init__(self, pool: Pool, clock: Clock, approvals: Approvals, *, needs_approval: bool = True) -> None:
        super().__init__(pool, clock, CARDS, alone, approvals=approvals, asked_as=ApprovalKind.RATE_CARD)
        self._cards = CardStore(pool)
        self._needs_approval = needs_approval

    async def book(self) -> CardBook:
        """All cards, and which of them is in force when."""
        return CardBook(await self._cards.all())

    def check_publishes(self, by: Actor) -> None:
        """Anybody, where no second person is needed."""
        if self._needs_approval:
            super().check_publishes(by)

    async def history(self, scope: str | None) -> Sequence[Record[RateCard]]:
        """The cards of a scope, by version; none where there is no such scope. Without one, the cards of all."""
        return await self._cards.history(scope)

    async def version(self, label: str) -> Record[RateCard]:
        """A version; of a scope, the latest that is not withdrawn."""
        scope, number = CARDS.split_label(label)
        if number is None:
            kept = [each for each in await self.versions(scope) if each.version.withdrawal is None]
            if not kept:
                raise CARDS.unknown(label)
            return kept[-1]
        return await super().version(label)

    async def publish(self, differences: Sequence[Difference[RateCard]], by: Actor) -> Sequence[DraftOutcome[RateCard]]:
        """Publishes the cards, or has a second person decide on each."""
        return await (super().publish if self._needs_approval else self._publish)(differences, by)

    async def restore(self, scope: str, version: int, start: datetime, by: Actor) -> Approval:
        """Asks for the content of an old version from another time on."""
        return await self.ask(await self.restored(f"{scope}@{version}", start), by)

    async def restored(self, label: str, start: datetime) -> RateCard:
        """The content of an old version, as a draft from another time on."""
        return replace((await self.version(label)).document, effective_from=start)

    async def take_back(self, scope: str, version: int, reason: str, by: Actor) -> Record[RateCard]:
        """Withdraws a scheduled card, until shortly before it begins: it will never be in force."""
        act, label = self.kind.withdrawals.act, f"{scope}@{version}"
        also = self.logged(label, country_of(scope), by, did=act, reason=reason)
        return await self._cards.withdraw(scope, version, by=by.source, reason=reason, now=self.now(), also=also)
