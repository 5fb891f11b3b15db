"""What people do with rate cards: published or asked for, withdrawn and restored, with the log."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from abacus.approving.executors import card_proposal
from abacus.core.clock import Clock
from abacus.core.errors import Refused
from abacus.documents.desk import DocumentDesk
from abacus.documents.types import Difference, DraftOutcome, Record
from abacus.people.store.approvals import Approvals
from abacus.people.types.approval import Approval
from abacus.people.types.person import Actor
from abacus.platform.postgres import Pool
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import RateCard, country_of
from abacus.pricing.kind import CARDS, alone
from abacus.pricing.store.cards import CardStore


class CardDesk(DocumentDesk[RateCard, None]):
    """Callers check rights. Every method raises `Unavailable` while the database is away, and `Refused` for what cannot
    be done.
    """

    def __init__(self, pool: Pool, clock: Clock, approvals: Approvals, *, needs_approval: bool = True) -> None:
        super().__init__(pool, clock, CARDS, alone)
        self._cards = CardStore(pool)
        self._approvals = approvals
        self._needs_approval = needs_approval

    async def book(self) -> CardBook:
        """All cards, and which of them is in force when."""
        return CardBook(await self._cards.all())

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
        if not self._needs_approval:
            return await super().publish(differences, by)
        asked = [await self._asked(each, by) for each in differences]
        return [DraftOutcome(each.draft, None, approval) for each, approval in zip(differences, asked, strict=True)]

    async def ask(self, card: RateCard, by: Actor) -> Approval:
        """Has a second person decide on the card. Raises `CannotDecide` if `by` may not ask."""
        (difference,) = await self.differences([card])
        return await self._asked(difference, by)

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

    async def _asked(self, difference: Difference[RateCard], by: Actor) -> Approval:
        if not difference.changes:
            raise Refused(f"{difference.against} is this card already: nothing to publish")
        return await self._approvals.ask(card_proposal(difference.draft, list(difference.changes)), by.agent)
