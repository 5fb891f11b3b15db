# Generated from async_exchanges.py by `python client/generate_sync.py`; changes belong there.
"""What the blocking client asks about exchanges with partners."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
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


class ExchangeCalls(ABC):
    """The methods about points that become a partner's, and a partner's that become points."""

    def exchange_quote(
        self,
        member_id: str,
        programme: str,
        *,
        direction: Direction = "out",
        points: int | None = None,
        target: int | None = None,
    ) -> ExchangeQuote:
        """What these points of the giver's buy, or what a target of the taker's costs. Nothing is held."""
        return self._answer(exchange_calls.quote(member_id, programme, direction, points, target))

    def convert(
        self, quote_id: UUID | str, *, member_id: str | None = None, idempotency_key: str | None = None
    ) -> Exchange:
        """Holds the points of a quote, and has the partner asked to credit its own. With a member's id, the quote has
        to be that member's.
        """
        return self._answer(exchange_calls.convert(quote_id, member_id, idempotency_key))

    def exchange(self, exchange_id: UUID | str) -> Exchange:
        """Where an exchange stands, with its trail."""
        return self._answer(exchange_calls.exchange(exchange_id))

    def exchanges(self, member_id: str) -> Iterator[Exchange]:
        """All exchanges of the member, the newest first; a page is fetched when its first is read."""
        return self._items(lambda cursor: exchange_calls.exchanges(member_id, cursor))

    def cancel_exchange(self, exchange_id: UUID | str) -> Exchange:
        """Frees the points of what was not sent yet."""
        return self._answer(exchange_calls.undo(exchange_id, "cancel"))

    def reverse_exchange(self, exchange_id: UUID | str) -> Exchange:
        """Has the partner asked to take back what it has credited, where it does."""
        return self._answer(exchange_calls.undo(exchange_id, "reverse"))

    def link_account(
        self, member_id: str, programme: str, number: str, *, name: str | None = None, send_code: bool = False
    ) -> AccountLink:
        """Asks to link the member's account at the partner; with `send_code` the member is told a code."""
        return self._answer(exchange_calls.link(member_id, programme, number, name, send_code=send_code))

    def verify_link(self, member_id: str, link_id: UUID | str, *, code: str | None = None) -> AccountLink:
        """By the code that the member was told; without one the partner is asked."""
        return self._answer(exchange_calls.verify(member_id, link_id, code))

    def begin_sign_in(self, member_id: str, programme: str, redirect_uri: str) -> AccountLink:
        """Asks to link the account that the member shows by signing in at the partner: send it to the
        `authorize_url`. The partner sends it back to this address, which the programme has to have.
        """
        return self._answer(exchange_calls.begin_sign_in(member_id, programme, redirect_uri))

    def finish_sign_in(
        self, member_id: str, link_id: UUID | str, *, code: str, state: str, iss: str | None = None
    ) -> AccountLink:
        """By what came to the redirect address, within ten minutes and once."""
        return self._answer(exchange_calls.finish_sign_in(member_id, link_id, code, state, iss))

    def links(self, member_id: str) -> tuple[AccountLink, ...]:
        """The newest first."""
        return self._answer(exchange_calls.links(member_id))

    def unlink_account(self, member_id: str, link_id: UUID | str) -> AccountLink:
        """Exchanges that are open go on."""
        return self._answer(exchange_calls.unlink(member_id, link_id))

    def reserve_inbound(self, id_: str, account: str, points: int) -> InboundExchange:
        """As a partner: announces points of its member, under its own id."""
        return self._answer(exchange_calls.reserve(id_, account, points))

    def commit_inbound(self, id_: str) -> InboundExchange:
        """As a partner: from now on it is awarded."""
        return self._answer(exchange_calls.decide(id_, "commit"))

    def cancel_inbound(self, id_: str) -> InboundExchange:
        """As a partner: it is refused for ever, unless it was committed before."""
        return self._answer(exchange_calls.decide(id_, "cancel"))

    def inbound_exchange(self, id_: str) -> InboundExchange:
        """As a partner: where it stands."""
        return self._answer(exchange_calls.inbound(id_))

    def exchange_statement(self, programme: str, day: date) -> ExchangeStatement:
        """As a partner: what came in from it on a day of UTC."""
        return self._answer(exchange_calls.statement(programme, day))

    @abstractmethod
    def _items(self, page_at: Callable[[str | None], Call[Page[Item]]]) -> Iterator[Item]:
        """The items of all pages; the client asks for them one after the other."""

    @abstractmethod
    def _answer(self, call: Call[Answer]) -> Answer:
        """The answer to a call; the client makes it."""
