"""The client for those who await."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
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


class AsyncClient:
    """As `Client`, awaited."""

    def __init__(
        self,
        base_url: str,
        key: str,
        *,
        signing_secret: str | None = None,
        timeout_s: float = 10.0,
        retries: int = 3,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Clock | None = None,
    ) -> None:
        self._terms = Terms(base_url, key, signing_secret, timeout_s, RetryPolicy(retries), clock or SystemClock())
        self._http = httpx.AsyncClient(transport=transport, **self._terms.connection())
        self._sleep = sleep

    async def award(
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
        body = asks.fixed(member_id, country, points, reason, program)
        return await self._ask(asks.award(body, idempotency_key, wait_s))

    async def award_transaction(
        self,
        member_id: str,
        transaction: Transaction,
        *,
        program: str | None = None,
        idempotency_key: str | None = None,
        wait_s: int = 0,
    ) -> Award:
        return await self._ask(asks.award(asks.computed(member_id, transaction, program), idempotency_key, wait_s))

    async def award_batch(self, items: Iterable[FixedItem | ComputedItem]) -> list[BatchResult]:
        return await self._ask(asks.award_batch(items))

    async def award_state(self, award_id: UUID | str) -> Award:
        return await self._ask(asks.award_state(award_id))

    async def quote(
        self, member_id: str, *, country: str, points: int, reason: str, program: str | None = None
    ) -> Worth:
        return await self._ask(asks.quote(asks.fixed(member_id, country, points, reason, program)))

    async def quote_transaction(self, member_id: str, transaction: Transaction, *, program: str | None = None) -> Worth:
        return await self._ask(asks.quote(asks.computed(member_id, transaction, program)))

    async def member(self, member_id: str, *, as_of: datetime | None = None) -> Member:
        return await self._ask(asks.member(member_id, as_of))

    async def transfers(self, member_id: str, program: str | None = None) -> AsyncIterator[Transfer]:
        page = await self._ask(asks.transfers(member_id, program))
        for transfer in page.transfers:
            yield transfer
        while page.next is not None:
            page = await self._ask(asks.transfers(member_id, program, page.next))
            for transfer in page.transfers:
                yield transfer

    async def lots(self, member_id: str, program: str | None = None) -> AsyncIterator[Lot]:
        page = await self._ask(asks.lots(member_id, program))
        for lot in page.lots:
            yield lot
        while page.next is not None:
            page = await self._ask(asks.lots(member_id, program, page.next))
            for lot in page.lots:
                yield lot

    async def spend(
        self,
        member_id: str,
        points: int,
        *,
        reason: str | None = None,
        program: str | None = None,
        country: str | None = None,
        idempotency_key: str | None = None,
    ) -> Movement:
        body = asks.moving(points, reason, program, country)
        return await self._ask(asks.spend(member_id, body, idempotency_key))

    async def hold(
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
        body = asks.moving(points, reason, program, country, expires_in=expires_in)
        return await self._ask(asks.hold(member_id, body, idempotency_key))

    async def capture(self, member_id: str, hold_id: UUID | str, points: int | None = None) -> Movement:
        return await self._ask(asks.settle(member_id, hold_id, "capture", points))

    async def release(self, member_id: str, hold_id: UUID | str) -> Movement:
        return await self._ask(asks.settle(member_id, hold_id, "release", None))

    async def reverse(
        self,
        transfer_id: str,
        points: int | None = None,
        *,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> Movement:
        return await self._ask(asks.reverse(transfer_id, asks.moving(points, reason), idempotency_key))

    async def adjust(
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
        body = asks.moving(points, reason, program, country, actor=actor)
        return await self._ask(asks.adjust(member_id, body, idempotency_key))

    async def aclose(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _ask(self, ask: Ask[Answer]) -> Answer:
        tries = self._terms.tries(ask)
        while (wait_s := tries.wait_after(await self._try(ask))) is not None:
            await self._sleep(wait_s)
        return tries.answer()

    async def _try(self, ask: Ask[Answer]) -> httpx.Response | httpx.RequestError:
        try:
            return await self._http.send(self._terms.request(self._http, ask))
        except httpx.RequestError as error:
            return error
