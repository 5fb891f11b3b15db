"""The part of TigerBeetle's Python client that the harness uses, over a cluster in this process."""

import enum
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Final, NamedTuple, Self

_MOST: Final = 8189


class CreateAccountStatus(enum.Enum):
    """What became of an account."""

    CREATED = 0xFFFFFFFF
    EXISTS = 21


class CreateTransferStatus(enum.Enum):
    """What became of a transfer."""

    CREATED = 0xFFFFFFFF
    EXISTS = 46
    CREDIT_ACCOUNT_NOT_FOUND = 22


class QueryFilterFlags(enum.IntFlag):
    """The order of what is found."""

    NONE = 0


class Result(NamedTuple):
    """Of an account or a transfer of a request."""

    status: CreateAccountStatus | CreateTransferStatus


@dataclass
class Account:
    """An account, with its sums."""

    id: int
    ledger: int
    code: int
    debits_posted: int = 0
    credits_posted: int = 0
    timestamp: int = 0


@dataclass
class Transfer:
    """A transfer from a debit account to a credit account."""

    id: int
    debit_account_id: int
    credit_account_id: int
    amount: int
    ledger: int
    code: int
    timestamp: int = 0


@dataclass
class QueryFilter:
    """Which accounts or transfers are asked for."""

    ledger: int
    limit: int
    timestamp_min: int
    timestamp_max: int
    code: int
    user_data_128: int
    user_data_64: int
    user_data_32: int
    flags: QueryFilterFlags


@dataclass
class _Cluster:
    accounts: dict[int, Account] = field(default_factory=dict)
    transfers: dict[int, Transfer] = field(default_factory=dict)
    clock: "count[int]" = field(default_factory=lambda: count(1))


_CLUSTERS: Final[dict[str, _Cluster]] = {}


class ClientAsync:
    """A client of the cluster at these addresses."""

    def __init__(self, cluster_id: int, replica_addresses: str) -> None:
        assert cluster_id == 0
        self._cluster = _CLUSTERS.setdefault(replica_addresses, _Cluster())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Nothing to give back."""

    async def create_accounts(self, accounts: list[Account]) -> list[Result]:
        assert len(accounts) <= _MOST
        for each in accounts:
            assert each.id > 0
            self._cluster.accounts[each.id] = replace(each, timestamp=next(self._cluster.clock))
        return [Result(CreateAccountStatus.CREATED)] * len(accounts)

    async def create_transfers(self, transfers: list[Transfer]) -> list[Result]:
        return [Result(self._create(each)) for each in transfers]

    def _create(self, transfer: Transfer) -> CreateTransferStatus:
        accounts = self._cluster.accounts
        if transfer.id in self._cluster.transfers:
            return CreateTransferStatus.EXISTS
        if transfer.credit_account_id not in accounts:
            return CreateTransferStatus.CREDIT_ACCOUNT_NOT_FOUND
        accounts[transfer.debit_account_id].debits_posted += transfer.amount
        accounts[transfer.credit_account_id].credits_posted += transfer.amount
        self._cluster.transfers[transfer.id] = replace(transfer, timestamp=next(self._cluster.clock))
        return CreateTransferStatus.CREATED

    async def query_accounts(self, asked: QueryFilter) -> list[Account]:
        return _found(asked, self._cluster.accounts)

    async def query_transfers(self, asked: QueryFilter) -> list[Transfer]:
        return _found(asked, self._cluster.transfers)


def _found(asked: QueryFilter, kept: dict[int, Any]) -> list[Any]:
    ours = [each for each in kept.values() if each.ledger == asked.ledger and each.timestamp >= asked.timestamp_min]
    return ours[: asked.limit]
