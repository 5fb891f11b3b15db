"""Published rate cards in Postgres: versions of a scope count from 1, none is ever changed, and a card that has not
begun can be withdrawn.
"""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Final

from abacus.core.errors import Refused, Unavailable
from abacus.documents.store import DocumentStore
from abacus.documents.types import Record
from abacus.platform.fresh_copy import USUAL, Cadence, FreshCopy
from abacus.platform.postgres import Also, Connection, Pool, nothing_else, together
from abacus.platform.sql import Statement
from abacus.pricing.decide.book import DEPENDENCY, CardBook
from abacus.pricing.decide.card import WITHDRAWN_BEFORE, CardState, PublishedCard, RateCard
from abacus.pricing.decide.timeline import published_card
from abacus.pricing.kind import CARDS, alone

NONE_KNOWN: Final[Mapping[str, PublishedCard]] = MappingProxyType({})

# A reader that sees a card as final must see its withdrawal. So this transaction ends well within the time between
# the last moment to withdraw a card and the first at which it is final.
_IN_TIME: Final = "set local statement_timeout = '10s'; set local idle_in_transaction_session_timeout = '10s'"
_MAY_WITHDRAW: Final = Statement("""
    select effective_from > clock_timestamp() + :before from rate_card where scope = :scope and version = :version
""")


class CardStore:
    """Reads, publishes and withdraws cards. Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        self._documents = DocumentStore(pool, CARDS)

    async def publish(
        self,
        card: RateCard,
        *,
        by: str,
        now: datetime,
        approved_by: str | None = None,
        also: Also = nothing_else,
    ) -> PublishedCard:
        """Give the card the next version of its scope.

        Raises `Refused` when the same card begins then already: a version says that something changes.
        """
        own = {"approved_by": approved_by}
        (record,) = await self._documents.publish([card], alone, by=by, now=now, also=also, own=own)
        number = record.version.number
        return next(published_card(each) for each in await self.history(card.scope) if each.version.number == number)

    async def withdraw(
        self, scope: str, version: int, *, by: str, reason: str, now: datetime, also: Also = nothing_else
    ) -> Record[RateCard]:
        """Withdraw a card that has not begun: it will never be in force. Raises `Refused` for every other card, and
        when it begins so soon that a process may rely on it.
        """

        async def in_time(connection: Connection) -> None:
            await connection.execute(_IN_TIME)

        async def may(connection: Connection) -> None:
            given = {"scope": scope, "version": version, "before": WITHDRAWN_BEFORE}
            if not await connection.fetchval(*_MAY_WITHDRAW(**given)):
                minutes = WITHDRAWN_BEFORE.seconds // 60
                raise Refused(
                    f"{scope}@{version} is in force, or will be within {minutes} minutes, and processes rely on it;"
                    " publish a card that takes over from it"
                )

        return await self._documents.withdraw(
            scope, number=version, by=by, reason=reason, now=now, check=together(in_time, may), also=also
        )

    async def all(self, known: Mapping[str, PublishedCard] = NONE_KNOWN) -> list[PublishedCard]:
        """All cards, by scope and version, the withdrawn ones too. Cards that are known by their names are not read
        again: no card changes.
        """
        marks = {_mark(card): card.card for card in known.values()}
        return [published_card(record) for record in await self._documents.history(known=marks)]

    async def history(self, scope: str | None = None) -> list[Record[RateCard]]:
        """The cards of a scope, or all, with who published and who withdrew each; by scope and version."""
        return await self._documents.history(*(() if scope is None else (scope,)))


def _mark(card: PublishedCard) -> str:
    return f"{card.name}{'-' if card.state is CardState.WITHDRAWN else ''}"


Load = Callable[[Mapping[str, PublishedCard]], Awaitable[list[PublishedCard]]]


class CardReader(FreshCopy[list[PublishedCard], CardBook]):
    """Serves the last known cards, and never forgets them. It serves none only where it `may_be_empty`: nothing is
    awarded before the first card is published, but the pages of a house without cards are there.

    A card that was published already stays the same object from one reading to the next, so values that callers
    keep for it stay good. `load` gets the cards that are known, by name, and need not read them again.
    """

    def __init__(self, load: Load, cadence: Cadence = USUAL, *, may_be_empty: bool = False) -> None:
        async def some(before: list[PublishedCard] | None) -> list[PublishedCard]:
            """Raises `Unavailable` where there has to be a card and is none."""
            cards = await load({card.name: card for card in before or ()})
            if not (cards or may_be_empty):
                raise Unavailable(DEPENDENCY, "no rate card is published yet")
            return cards

        super().__init__(DEPENDENCY, some, CardBook, cadence)

    def book(self) -> CardBook:
        """The last known cards. Raises `Unavailable` when none was ever read."""
        return self.value()
