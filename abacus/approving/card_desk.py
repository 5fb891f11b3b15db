"""What people do with rate cards where each takes a second person: asked for, withdrawn and restored, with the log."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from abacus.approving.executors import card_proposal
from abacus.core.clock import Clock
from abacus.core.errors import Refused, absent
from abacus.people.store.approvals import Approvals
from abacus.people.store.audit import entry_of, write
from abacus.people.types.actor import Actor
from abacus.people.types.approval import Approval
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Connection, Pool
from abacus.pricing.decide.card import RateCard, country_of
from abacus.pricing.decide.displacing import Displacement, displacement
from abacus.pricing.decide.timeline import CardRecord
from abacus.pricing.store.cards import CardStore


class CardDesk:
    """Rights are checked by whoever calls. Every method raises `Unavailable` while the database is away, and `Refused`
    for what cannot be done.
    """

    def __init__(self, pool: Pool, clock: Clock, approvals: Approvals) -> None:
        self._store = CardStore(pool)
        self._clock = clock
        self._approvals = approvals

    async def history(self, scope: str) -> Sequence[CardRecord]:
        """The cards of a scope, by version; none where there is no such scope."""
        return await self._store.history(scope)

    async def displacement(self, card: RateCard) -> Displacement:
        """What publishing the card changes as things stand."""
        return displacement(card, [each.published for each in await self.history(card.scope)])

    async def ask(self, card: RateCard, by: Actor) -> Approval:
        """Has a second person decide on the card. Raises `CannotDecide` for who may not ask."""
        against, changes, _ = await self.displacement(card)
        if not changes:
            raise Refused(f"{against} is this card already: nothing to publish")
        return await self._approvals.ask(card_proposal(card, changes), by.agent)

    async def restore(self, scope: str, version: int, start: datetime, by: Actor) -> Approval:
        """Asks for the content of an old version from another time on."""
        for record in await self.history(scope):
            if record.published.version == version:
                return await self.ask(replace(record.published.card, effective_from=start), by)
        raise absent("rate card", f"{scope}@{version}", "`abacus rates timeline` prints all versions")

    async def withdraw(self, scope: str, version: int, reason: str, by: Actor) -> CardRecord:
        """Takes a scheduled card back, until shortly before it begins: it will never be in force."""
        now = self._clock.now()
        entry = entry_of(
            by.source,
            Deed.PUBLISH_RATES,
            f"card:{scope}@{version}",
            now,
            country=country_of(scope),
            did="withdraw",
            reason=reason,
        )

        async def also(connection: Connection) -> None:
            await write(connection, [entry])

        return await self._store.withdraw(scope, version, by=by.source, reason=reason, now=now, also=also)
