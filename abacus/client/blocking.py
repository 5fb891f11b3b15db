"""The client for those who wait."""

import time
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from types import TracebackType
from typing import Self
from uuid import UUID

import httpx

from abacus.client import asks
from abacus.client.answers import Award, BatchResult, Lot, Member, Movement, Pending, Transfer, Worth
from abacus.client.asks import Answer, Ask, ComputedItem, FixedItem, Transaction
from abacus.client.terms import Terms
from abacus.client.tries import RetryPolicy
from abacus.core.clock import Clock, SystemClock


class Client:
    """Asks the award API. May be shared by threads. Every method raises `ApiError`.

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
        sleep: Callable[[float], None] = time.sleep,
        clock: Clock | None = None,
    ) -> None:
        self._terms = Terms(base_url, key, signing_secret, timeout_s, RetryPolicy(retries), clock or SystemClock())
        self._http = httpx.Client(transport=transport, **self._terms.connection())
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
        """Award points; with `wait_s` the answer waits for the posting, up to ten seconds."""
        return self._ask(asks.award(asks.fixed(member_id, country, points, reason, program), idempotency_key, wait_s))

    def award_transaction(
        self,
        member_id: str,
        transaction: Transaction,
        *,
        program: str | None = None,
        idempotency_key: str | None = None,
        wait_s: int = 0,
    ) -> Award:
        """Award what Abacus computes for the transaction."""
        return self._ask(asks.award(asks.computed(member_id, transaction, program), idempotency_key, wait_s))

    def award_batch(self, items: Iterable[FixedItem | ComputedItem]) -> list[BatchResult]:
        """Up to 1,000 awards; what became of each, in their order. One that was refused is not tried again."""
        return self._ask(asks.award_batch(items))

    def award_state(self, award_id: UUID | str) -> Award:
        return self._ask(asks.award_state(award_id))

    def quote(self, member_id: str, *, country: str, points: int, reason: str, program: str | None = None) -> Worth:
        """What `award` would come to; nothing is awarded."""
        return self._ask(asks.quote(asks.fixed(member_id, country, points, reason, program)))

    def quote_transaction(self, member_id: str, transaction: Transaction, *, program: str | None = None) -> Worth:
        """What `award_transaction` would come to; nothing is awarded."""
        return self._ask(asks.quote(asks.computed(member_id, transaction, program)))

    def member(self, member_id: str, *, as_of: datetime | None = None) -> Member:
        """The member's accounts: as they are, or as they were at a time that is past."""
        return self._ask(asks.member(member_id, as_of))

    def transfers(self, member_id: str, program: str | None = None) -> Iterator[Transfer]:
        """All of them, the newest first, page after page as they are read."""
        page = self._ask(asks.transfers(member_id, program))
        yield from page.transfers
        while page.next is not None:
            page = self._ask(asks.transfers(member_id, program, page.next))
            yield from page.transfers

    def lots(self, member_id: str, program: str | None = None) -> Iterator[Lot]:
        """What remains of each award, the oldest first: in that order points are spent."""
        page = self._ask(asks.lots(member_id, program))
        yield from page.lots
        while page.next is not None:
            page = self._ask(asks.lots(member_id, program, page.next))
            yield from page.lots

    def spend(
        self,
        member_id: str,
        points: int,
        *,
        reason: str | None = None,
        program: str | None = None,
        country: str | None = None,
        idempotency_key: str | None = None,
    ) -> Movement:
        """At most what is available; the program or the country says which points, where there are several."""
        body = asks.moving(points, reason, program, country)
        return self._ask(asks.spend(member_id, body, idempotency_key))

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
        """Keep points for a purchase, so many seconds; `hold_id` is for `capture` and `release`."""
        body = asks.moving(points, reason, program, country, expires_in=expires_in)
        return self._ask(asks.hold(member_id, body, idempotency_key))

    def capture(self, member_id: str, hold_id: UUID | str, points: int | None = None) -> Movement:
        """Spend what is held, or so many points of it; the rest is released."""
        return self._ask(asks.settle(member_id, hold_id, "capture", points))

    def release(self, member_id: str, hold_id: UUID | str) -> Movement:
        return self._ask(asks.settle(member_id, hold_id, "release", None))

    def reverse(
        self,
        transfer_id: str,
        points: int | None = None,
        *,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> Movement:
        """Take a transfer back: all that is left of it, or so many points."""
        return self._ask(asks.reverse(transfer_id, asks.moving(points, reason), idempotency_key))

    def adjust(
        self,
        member_id: str,
        points: int,
        *,
        reason: str,
        actor: str,
        program: str | None = None,
        country: str | None = None,
        idempotency_key: str | None = None,
    ) -> Movement | Pending:
        """Add points or take them, in a person's name; a large adjustment waits for a second person."""
        body = asks.moving(points, reason, program, country, actor=actor)
        return self._ask(asks.adjust(member_id, body, idempotency_key))

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _ask(self, ask: Ask[Answer]) -> Answer:
        tries = self._terms.tries(ask)
        while (wait_s := tries.wait_after(self._try(ask))) is not None:
            self._sleep(wait_s)
        return tries.answer()

    def _try(self, ask: Ask[Answer]) -> httpx.Response | httpx.RequestError:
        try:
            return self._http.send(self._terms.request(self._http, ask))
        except httpx.RequestError as error:
            return error
