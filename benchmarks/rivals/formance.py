"""Formance Ledger over its HTTP API, version 2 (github.com/formancehq/ledger): a transfer goes from an issuer to a
member, and its key is the reference and the idempotency key of the transaction.

A bulk is not atomic: those that are, of several callers, wait for each other in a ring. The server has to take bulks of
this size: `ledger serve --bulk-max-size 200`.
"""

import json
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, NamedTuple

from benchmarks.posting_rounds import BATCH, CONNECTIONS
from benchmarks.rivals.databases import size_of
from benchmarks.rivals.over_http import Asked, asked
from benchmarks.rivals.port import POINTS, Grant, Ledger, Room, Sums, Work

_ASSET: Final = "POINTS"
_PAGE: Final = "1000"


class Formance(NamedTuple):
    """In a ledger of its own at this address. Its size is told if its database is named."""

    address: str
    database: str | None = None
    name: str = "Formance Ledger"
    accounts: int = 2
    a_call: int = BATCH
    connections: int = CONNECTIONS

    @asynccontextmanager
    async def room(self, work: Work) -> AsyncIterator[Room]:  # noqa: ARG002  # its accounts are opened by use
        room = _Room(self.address, self.database, f"abacus-bench-{uuid.uuid4().hex[:8]}", self.name)
        async with asked(self.address, self.name) as server:
            await server.ask("POST", f"/v2/{room.ledger}", {})
        yield room


class _Room(NamedTuple):
    address: str
    database: str | None
    ledger: str
    name: str

    @asynccontextmanager
    async def opened(self, connections: int) -> AsyncIterator[Ledger]:
        async with asked(self.address, self.name, connections) as server:
            yield _Ledger(server, self)


class _Ledger:
    def __init__(self, server: Asked, room: _Room) -> None:
        self._server = server
        self._room = room
        self._path = f"/v2/{room.ledger}"

    async def post(self, grants: Sequence[Grant]) -> None:
        await self._server.ask("POST", f"{self._path}/_bulk", list(map(self._element, grants)))

    def _element(self, grant: Grant) -> dict[str, Any]:
        posting = {
            "source": f"issuers:{grant.issuer:08}",
            "destination": f"members:{grant.member:08}",
            "amount": POINTS,
            "asset": _ASSET,
        }
        key = f"{self._room.ledger}-{grant.number}"
        # An issuer's balance is below zero, which is asked for by `force`.
        data = {"postings": [posting], "reference": key, "metadata": {}, "force": True}
        return {"action": "CREATE_TRANSACTION", "ik": key, "data": data}

    async def counted(self) -> Counter[int]:
        return Counter([int(each["reference"].rpartition("-")[2]) async for each in self._transactions()])

    async def _transactions(self) -> AsyncIterator[Any]:
        query = {"pageSize": _PAGE}
        while query:
            _, document = await self._server.ask("GET", f"{self._path}/transactions", query=query)
            for each in document["cursor"]["data"]:
                yield each
            query = {"cursor": document["cursor"]["next"]} if document["cursor"]["hasMore"] else {}

    async def sums(self) -> Sums:
        transfers = [posting["amount"] async for each in self._transactions() for posting in each["postings"]]
        return Sums(await self._balance_of("members:"), sum(transfers), await self._balance_of("issuers:"))

    async def _balance_of(self, accounts: str) -> int:
        query = {"query": json.dumps({"$match": {"address": accounts}})}
        _, document = await self._server.ask("GET", f"{self._path}/aggregate/balances", query=query)
        return int(document["data"].get(_ASSET, 0))

    async def size(self) -> int | None:
        return None if self._room.database is None else await size_of(self._room.database)
