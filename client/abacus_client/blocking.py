# Generated from asynchronous.py by `python client/generate_sync.py`; changes belong there.
"""The client that blocks until an answer comes."""

import time
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from decimal import Decimal
from types import TracebackType
from typing import Self
from uuid import UUID

import httpx

from abacus_client import calls
from abacus_client.answers import (
    Award,
    BatchResult,
    Count,
    EventResult,
    Item,
    KeyCount,
    Lot,
    Member,
    Movement,
    MovementResult,
    Page,
    Pending,
    PositionResult,
    Quote,
    Series,
    Transfer,
)
from abacus_client.calls import (
    Answer,
    Call,
    ComputedItem,
    CountQuery,
    Event,
    FixedItem,
    MovementItem,
    Position,
    QuotedTransaction,
    SeriesQuery,
    Transaction,
)
from abacus_client.clock import Clock, SystemClock
from abacus_client.connection import Connection
from abacus_client.exchanges import ExchangeCalls
from abacus_client.journeys import JourneyCalls
from abacus_client.offers import OfferCalls
from abacus_client.rewards import RewardCalls
from abacus_client.tries import RetryPolicy, Sleep


class Client(ExchangeCalls, JourneyCalls, OfferCalls, RewardCalls):
    """Calls the award API. May be shared by threads. Every method raises `ApiError`.

    A request is repeated when it fails for a passing reason: no answer, a key in flight, too many requests, something
    down. An award keeps its idempotency key, given or made, over all tries, so it is paid once.
    """

    def __init__(
        self,
        base_url: str,
        key: str,
        *,
        signing_secret: str | None = None,
        timeout_s: float = 10.0,
        retries: int = 3,
        transport: httpx.BaseTransport | None = None,
        sleep: Sleep = time.sleep,
        clock: Clock | None = None,
    ) -> None:
        policy = RetryPolicy(retries)
        self._connection = Connection(base_url, key, signing_secret, timeout_s, policy, clock or SystemClock())
        self._http = httpx.Client(transport=transport, **self._connection.options())
        self._sleep = sleep

    def award(
        self,
        member_id: str,
        *,
        country: str,
        points: int,
        reason: str,
        program: str | None = None,
        idempotency_key: str | None = None,
        wait_s: int = 0,
    ) -> Award:
        """Awards points; with `wait_s` the answer waits for the posting, up to ten seconds."""
        body = calls.fixed(member_id, country, points, reason, program)
        return self._answer(calls.award(body, idempotency_key, wait_s))

    def award_transaction(
        self,
        member_id: str,
        transaction: Transaction,
        *,
        program: str | None = None,
        idempotency_key: str | None = None,
        wait_s: int = 0,
    ) -> Award:
        """Awards the points that Abacus computes for the transaction."""
        return self._answer(calls.award(calls.computed(member_id, transaction, program), idempotency_key, wait_s))

    def award_batch(self, items: Iterable[FixedItem | ComputedItem]) -> list[BatchResult]:
        """Makes up to 1,000 awards, and returns their outcomes in order. A refused award is not tried again."""
        return self._answer(calls.award_batch(items))

    def post_event(self, event: Event) -> str:
        """Says that something happened, and returns the event's key. An event that is posted again is counted once."""
        return self._answer(calls.event(event))

    def post_events(self, events: Iterable[Event]) -> list[EventResult]:
        """Posts up to 1,000 events, and returns their outcomes in order. A refused event is not posted again."""
        return self._answer(calls.event_batch(events))

    def post_positions(self, positions: Iterable[Position]) -> list[PositionResult]:
        """Says where members are, up to 100 positions, and returns their outcomes in order. Nothing keeps them: what
        members enter and leave becomes events, of a position that is sent again once.
        """
        return self._answer(calls.positions(positions))

    def award_state(self, award_id: UUID | str) -> Award:
        return self._answer(calls.award_state(award_id))

    def quote(self, member_id: str, *, country: str, points: int, reason: str, program: str | None = None) -> Quote:
        """The points that `award` would give; nothing is awarded."""
        return self._answer(calls.quote(calls.fixed(member_id, country, points, reason, program)))

    def quote_transaction(
        self, member_id: str, transaction: Transaction | QuotedTransaction, *, program: str | None = None
    ) -> Quote:
        """The points that `award_transaction` would give at the time of the transaction, which may be still to come;
        nothing is awarded.
        """
        return self._answer(calls.quote(calls.computed(member_id, transaction, program)))

    def member(self, member_id: str, *, as_of: datetime | None = None) -> Member:
        """The member's accounts at present or at a past time."""
        return self._answer(calls.member(member_id, as_of))

    def transfers(self, member_id: str, program: str | None = None) -> Iterator[Transfer]:
        """All transfers, the newest first; a page is fetched when its first transfer is read."""
        return self._items(lambda cursor: calls.transfers(member_id, program, cursor))

    def lots(self, member_id: str, program: str | None = None) -> Iterator[Lot]:
        """The rest of each award, the oldest first: in that order points are spent."""
        return self._items(lambda cursor: calls.lots(member_id, program, cursor))

    def counts(self, queries: Iterable[CountQuery]) -> list[Count]:
        """Counts events for up to 100 keys and ranges, in their order. The base URL is that of the counts."""
        return self._answer(calls.counts(queries))

    def series(self, queries: Iterable[SeriesQuery]) -> list[Series]:
        """Counts events slot by slot for up to 100 keys, in their order. The base URL is that of the counts."""
        return self._answer(calls.series(queries))

    def counter_keys(self, counter: str) -> Iterator[str]:
        """All keys of a counter in their order; a page is fetched when its first key is read."""
        return self._items(lambda cursor: calls.counter_keys(counter, cursor))

    def top_keys(self, counter: str, top: int, from_: datetime | int, to: datetime | int) -> list[KeyCount]:
        """So many keys of a counter, 100 at most, with the largest counts in a range of time, the largest first."""
        return self._answer(calls.top_keys(counter, top, from_, to))

    def spend(
        self,
        member_id: str,
        points: int,
        *,
        reason: str | None = None,
        program: str | None = None,
        country: str | None = None,
        money: Decimal | str | None = None,
        price: Decimal | str | None = None,
        idempotency_key: str | None = None,
    ) -> Movement:
        """Spends points, at most those available; the program or the country names one of several accounts. `money` is
        what they pay at a till, as `point_quote` says, of a purchase of this `price`.
        """
        body = calls.moving(points, reason, program, country, money=money, price=price)
        return self._answer(calls.spend(member_id, body, idempotency_key))

    def hold(
        self,
        member_id: str,
        points: int,
        *,
        expires_in: int | None = None,
        reason: str | None = None,
        program: str | None = None,
        country: str | None = None,
        idempotency_key: str | None = None,
    ) -> Movement:
        """Holds points for a purchase, so many seconds; `hold_id` is for `capture` and `release`."""
        body = calls.moving(points, reason, program, country, expires_in=expires_in)
        return self._answer(calls.hold(member_id, body, idempotency_key))

    def capture(self, member_id: str, hold_id: UUID | str, points: int | None = None) -> Movement:
        """Spends all held points, or so many of them; the rest is released."""
        return self._answer(calls.settle(member_id, hold_id, "capture", points))

    def release(self, member_id: str, hold_id: UUID | str) -> Movement:
        return self._answer(calls.settle(member_id, hold_id, "release", None))

    def movements(self, items: Iterable[MovementItem]) -> list[MovementResult]:
        """Does up to 100 movements, those of one member in their order, and returns their outcomes in order. Items
        without a key get one.
        """
        return self._answer(calls.movements(items))

    def reverse(
        self,
        transfer_id: str,
        points: int | None = None,
        *,
        amount: Decimal | str | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> Movement | Pending:
        """Takes a transfer back: all that is left of it, so many points, or of a purchase the share of this refunded
        amount. Many points wait for a second person.
        """
        body = calls.moving(points, reason, amount=amount)
        return self._answer(calls.reverse(transfer_id, body, idempotency_key))

    def adjust(
        self,
        member_id: str,
        points: int,
        *,
        reason: str,
        actor: str | None = None,
        program: str | None = None,
        country: str | None = None,
        idempotency_key: str | None = None,
    ) -> Movement | Pending:
        """Adds points or takes them; `actor` names the person at your end on whose behalf. A large adjustment waits for
        a second person of the house.
        """
        body = calls.moving(points, reason, program, country, actor=actor)
        return self._answer(calls.adjust(member_id, body, idempotency_key))

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _items(self, page_at: Callable[[str | None], Call[Page[Item]]]) -> Iterator[Item]:
        cursor: str | None = None
        while True:
            page = self._answer(page_at(cursor))
            yield from page.items
            cursor = page.next
            if cursor is None:
                return

    def _answer(self, call: Call[Answer]) -> Answer:
        tries = self._connection.tries(call)
        while (wait_s := tries.wait_after(self._try(call))) is not None:
            self._sleep(wait_s)
        return tries.answer()

    def _try(self, call: Call[Answer]) -> httpx.Response | httpx.RequestError:
        try:
            return self._http.send(self._connection.request(self._http, call))
        except httpx.RequestError as error:
            return error
