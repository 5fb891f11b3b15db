"""TigerBeetle by its Python client (`tigerbeetle` of PyPI), which is imported only when its address is given: a
transfer debits an issuer and credits a member, and its key is the id of the transfer.

A room is a ledger number within the cluster, and a range of ids. TigerBeetle takes up to 8,189 transfers in a request,
and gains more by that than others; it is given as many as they are.
"""

import importlib
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, NamedTuple

from abacus.core.errors import Unavailable
from benchmarks.posting_rounds import BATCH, CONNECTIONS
from benchmarks.rivals.port import POINTS, Grant, Ledger, Room, Sums, Work

_CLIENT: Final = "tigerbeetle"
_MOST: Final = 8_000  # in a request; 8,189 fit
_MEMBER, _ISSUER = 1, 2  # codes of accounts
_FIRST_ISSUER: Final = 1 << 40


class TigerBeetle(NamedTuple):
    """In a ledger of its own of the cluster at these addresses."""

    addresses: str
    client: str = _CLIENT  # the module
    name: str = "TigerBeetle"
    accounts: int = 2
    a_call: int = BATCH
    connections: int = CONNECTIONS

    @asynccontextmanager
    async def room(self, work: Work) -> AsyncIterator[Room]:
        room = _Room(self.addresses, self.client, 1 + secrets.randbelow((1 << 31) - 1))
        module = _module(self.client)
        kinds = [(_MEMBER, number) for number in range(work.members)]
        kinds += [(_ISSUER, number) for number in range(work.issuers)]
        accounts = [
            module.Account(id=room.account(kind, number), ledger=room.ledger, code=kind) for kind, number in kinds
        ]
        async with _connected(room) as client:
            for start in range(0, len(accounts), _MOST):
                made = await client.create_accounts(accounts[start : start + _MOST])
                _refuse_others(made, {module.CreateAccountStatus.CREATED})
        yield room


class _Room(NamedTuple):
    addresses: str
    client: str
    ledger: int

    def account(self, kind: int, number: int) -> int:
        return self.first + number + (_FIRST_ISSUER if kind == _ISSUER else 0)

    @property
    def first(self) -> int:
        """The first id of the room; 0 is none."""
        return self.ledger << 64 | 1

    @asynccontextmanager
    async def opened(self, connections: int) -> AsyncIterator[Ledger]:  # noqa: ARG002  # a client is for all
        async with _connected(self) as client:
            yield _Ledger(client, _module(self.client), self)


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Unavailable("TigerBeetle", f"{error}; install its client, `tigerbeetle` of PyPI") from error


@asynccontextmanager
async def _connected(room: _Room) -> AsyncIterator[Any]:
    async with _module(room.client).ClientAsync(cluster_id=0, replica_addresses=room.addresses) as client:
        yield client


def _refuse_others(results: Sequence[Any], statuses: set[Any]) -> None:
    """Raises `Unavailable` if anything else came of a request."""
    others = {str(result.status) for result in results} - set(map(str, statuses))
    if others:
        raise Unavailable("TigerBeetle", f"it answered {', '.join(sorted(others))}")


class _Ledger:
    def __init__(self, client: Any, module: Any, room: _Room) -> None:
        self._client = client
        self._module = module
        self._room = room

    async def post(self, grants: Sequence[Grant]) -> None:
        transfers = [
            self._module.Transfer(
                id=self._room.first + grant.number,
                debit_account_id=self._room.account(_ISSUER, grant.issuer),
                credit_account_id=self._room.account(_MEMBER, grant.member),
                amount=POINTS,
                ledger=self._room.ledger,
                code=1,
            )
            for grant in grants
        ]
        known = self._module.CreateTransferStatus
        _refuse_others(await self._client.create_transfers(transfers), {known.CREATED, known.EXISTS})

    async def counted(self) -> Counter[int]:
        return Counter([each.id - self._room.first async for each in self._all(self._client.query_transfers)])

    async def _all(self, query: Callable[[Any], Awaitable[Sequence[Any]]]) -> AsyncIterator[Any]:
        since = 0
        while page := await query(self._filter(since)):
            for each in page:
                yield each
            since = page[-1].timestamp + 1

    def _filter(self, since: int) -> Any:
        return self._module.QueryFilter(
            user_data_128=0,
            user_data_64=0,
            user_data_32=0,
            ledger=self._room.ledger,
            code=0,
            timestamp_min=since,
            timestamp_max=0,
            limit=_MOST,
            flags=self._module.QueryFilterFlags.NONE,
        )

    async def sums(self) -> Sums:
        balances: Counter[int] = Counter()
        async for account in self._all(self._client.query_accounts):
            balances[account.code] += account.credits_posted - account.debits_posted
        transfers = [each.amount async for each in self._all(self._client.query_transfers)]
        return Sums(balances[_MEMBER], sum(transfers), balances[_ISSUER])

    async def size(self) -> None:
        """It tells none; its data file is larger than what it holds."""
