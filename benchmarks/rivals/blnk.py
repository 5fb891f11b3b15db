"""Blnk over its HTTP API (github.com/blnkfinance/blnk): a transfer goes from an issuer to a member, and its key is the
reference of the transaction.

A bulk skips the queue, so that the answer says that it is applied. It ends at a reference that is known already; then
each of its transactions is sent alone, and those that are known are passed over. A currency of its own tells a room's
balances from others.
"""

import uuid
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any, Final, NamedTuple

from benchmarks.posting_rounds import BATCH, CONNECTIONS
from benchmarks.rivals.databases import size_of
from benchmarks.rivals.over_http import Asked, asked
from benchmarks.rivals.port import POINTS, Grant, Ledger, Room, Sums, Work

_PAGE: Final = 100  # the largest that it takes
_KNOWN: Final = (HTTPStatus.BAD_REQUEST, HTTPStatus.CONFLICT)


class Blnk(NamedTuple):
    """With a currency of its own at this address. Its size is told if its database is named."""

    address: str
    database: str | None = None
    name: str = "Blnk"
    accounts: int = 2
    a_call: int = BATCH
    connections: int = CONNECTIONS

    @asynccontextmanager
    async def room(self, work: Work) -> AsyncIterator[Room]:  # noqa: ARG002  # its balances are opened by use
        yield _Room(self.address, self.database, f"P{uuid.uuid4().hex[:8].upper()}", self.name)


class _Room(NamedTuple):
    address: str
    database: str | None
    currency: str
    name: str

    @asynccontextmanager
    async def opened(self, connections: int) -> AsyncIterator[Ledger]:
        async with asked(self.address, self.name, connections) as server:
            yield _Ledger(server, self)


class _Ledger:
    def __init__(self, server: Asked, room: _Room) -> None:
        self._server = server
        self._room = room

    async def post(self, grants: Sequence[Grant]) -> None:
        transactions = [self._transaction(grant) for grant in grants]
        body = {"transactions": transactions, "skip_queue": True}
        status, _ = await self._server.ask("POST", "/transactions/bulk", body, refusals=_KNOWN)
        if status in _KNOWN:
            for each in transactions:
                await self._server.ask("POST", "/transactions", each, refusals=(HTTPStatus.CONFLICT,))

    def _transaction(self, grant: Grant) -> dict[str, Any]:
        return {
            "precise_amount": POINTS,
            "precision": 1,
            "currency": self._room.currency,
            "reference": f"{self._room.currency}-{grant.number}",
            "source": f"@issuer-{grant.issuer:08}",
            "destination": f"@member-{grant.member:08}",
            "description": "points",
            "allow_overdraft": True,
            "skip_queue": True,
        }

    async def counted(self) -> Counter[int]:
        return Counter([int(each["reference"].rpartition("-")[2]) async for each in self._all("transactions")])

    async def _all(self, what: str) -> AsyncIterator[Any]:
        ours = [{"field": "currency", "operator": "eq", "value": self._room.currency}]
        offset = 0
        while page := await self._page(what, {"filters": ours, "limit": _PAGE, "offset": offset}):
            for each in page:
                yield each
            offset += len(page)

    async def _page(self, what: str, asking: Mapping[str, Any]) -> Sequence[Any]:
        body = {**asking, "sort_by": "created_at", "sort_order": "asc"}
        _, page = await self._server.ask("POST", f"/{what}/filter", body)
        return page or []

    async def sums(self) -> Sums:
        balances = [(each["indicator"], int(each["balance"])) async for each in self._all("balances")]
        transfers = [int(each["precise_amount"]) async for each in self._all("transactions")]
        members, issuers = (
            sum(balance for name, balance in balances if name.startswith(kind)) for kind in ("@member", "@issuer")
        )
        return Sums(members, sum(transfers), issuers)

    async def size(self) -> int | None:
        return None if self._room.database is None else await size_of(self._room.database)
