"""What the client for asyncio asks about exchanges with partners; `exchanges.py` is generated from this file."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from datetime import date
from uuid import UUID

from abacus_client import exchange_calls
from abacus_client.answers import Item, Page
from abacus_client.calls import Answer, Call
from abacus_client.exchange_answers import (
    AccountLink,
    Direction,
    Exchange,
    ExchangeQuote,
    ExchangeStatement,
    InboundExchange,
)


class AsyncExchangeCalls(ABC):
    """The methods about points that become a partner's, and a partner's that become points."""

    async def exchange_quote(
        self,
        member_id: str,
        programme: str,
        *,
        direction: Direction = "out",
        points: int | None = None,
        target: int | None = None,
    ) -> ExchangeQuote:
        """What these points of the giver's buy, or what a target of the taker's costs. Nothing is held."""
        return await self._answer(exchange_calls.quote(member_id, programme, direction, points, target))

    async def convert(
        self, quote_id: UUID | str, *, member_id: str | None = None, idempotency_key: str | None = None
    ) -> Exchange:
        """Holds the points of a quote, and has the partner asked to credit its own. With a member's id, the quote has
        to be that member's.
        """
        return await self._answer(exchange_calls.convert(quote_id, member_id, idempotency_key))

    async def exchange(self, exchange_id: UUID | str) -> Exchange:
        """Where an exchange stands, with its trail."""
        return await self._answer(exchange_calls.exchange(exchange_id))

    def exchanges(self, member_id: str) -> AsyncIterator[Exchange]:
        """All exchanges of the member, the newest first; a page is fetched when its first is read."""
        return self._items(lambda cursor: exchange_calls.exchanges(member_id, cursor))

    async def cancel_exchange(self, exchange_id: UUID | str) -> Exchange:
        """Frees the points of what was not sent yet."""
        return await self._answer(exchange_calls.undo(exchange_id, "cancel"))

    async def reverse_exchange(self, exchange_id: UUID | str) -> Exchange:
        """Has the partner asked to take back what it has credited, where it does."""
        return await self._answer(exchange_calls.undo(exchange_id, "reverse"))

    async def link_account(
        self, member_id: str, programme: str, number: str, *, name: str | None = None, send_code: bool = False
    ) -> AccountLink:
        """Asks to link the member's account at the partner; with `send_code` the member is told a code."""
        return await self._answer(exchange_calls.link(member_id, programme, number, name, send_code=send_code))

    async def verify_link(self, member_id: str, link_id: UUID | str, *, code: str | None = None) -> AccountLink:
        """By the code that the member was told; without one the partner is asked."""
        return await self._answer(exchange_calls.verify(member_id, link_id, code))

    async def begin_sign_in(self, member_id: str, programme: str, redirect_uri: str) -> AccountLink:
        """Asks to link the account that the member shows by signing in at the partner: send it to the
        `authorize_url`. The partner sends it back to this address, which the programme has to have.
        """
        return await self._answer(exchange_calls.begin_sign_in(member_id, programme, redirect_uri))

    async def finish_sign_in(
        self, member_id: str, link_id: UUID | str, *, code: str, state: str, iss: str | None = None
    ) -> AccountLink:
        """By what came to the redirect address, within ten minutes and once."""
        return await self._answer(exchange_calls.finish_sign_in(member_id, link_id, code, state, iss))

    async def links(self, member_id: str) -> tuple[AccountLink, ...]:
        """The newest first."""
        return await self._answer(exchange_calls.links(member_id))

    async def unlink_account(self, member_id: str, link_id: UUID | str) -> AccountLink:
        """Exchanges that are open go on."""
        return await self._answer(exchange_calls.unlink(member_id, link_id))

    async def reserve_inbound(self, id_: str, account: str, points: int) -> InboundExchange:
        """As a partner: announces points of its member, under its own id."""
        return await self._answer(exchange_calls.reserve(id_, account, points))

    async def commit_inbound(self, id_: str) -> InboundExchange:
        """As a partner: from now on it is awarded."""
        return await self._answer(exchange_calls.decide(id_, "commit"))

    async def cancel_inbound(self, id_: str) -> InboundExchange:
        """As a partner: it is refused for ever, unless it was committed before."""
        return await self._answer(exchange_calls.decide(id_, "cancel"))

    async def inbound_exchange(self, id_: str) -> InboundExchange:
        """As a partner: where it stands."""
        return await self._answer(exchange_calls.inbound(id_))

    async def exchange_statement(self, programme: str, day: date) -> ExchangeStatement:
        """As a partner: what came in from it on a day of UTC."""
        return await self._answer(exchange_calls.statement(programme, day))

    @abstractmethod
    def _items(self, page_at: Callable[[str | None], Call[Page[Item]]]) -> AsyncIterator[Item]:
        """The items of all pages; the client asks for them one after the other."""

    @abstractmethod
    async def _answer(self, call: Call[Answer]) -> Answer:
        """The answer to a call; the client makes it."""
