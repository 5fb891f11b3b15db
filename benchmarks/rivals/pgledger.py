"""pgledger, a ledger of SQL functions (github.com/pgr0ss/pgledger): a transfer goes from an issuer to a member.

Its SQL is not ours and is not kept here; the harness is given the path of a clone. It takes no key of a transfer, so
each call carries its number as metadata, by which its transfers are counted.
"""

import json
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from abacus.core.errors import Unavailable
from benchmarks.posting_rounds import BATCH, CONNECTIONS
from benchmarks.rivals.databases import SIZE, connected, database_with
from benchmarks.rivals.port import POINTS, Grant, Ledger, Room, Sums, Work

_ACCOUNTS: Final = """
select count(*) from generate_series(0, {last}) as n,
    lateral pgledger_create_account('{kind}' || lpad(n::text, 8, '0'), 'points')
"""
_IDS: Final = "select id from pgledger_accounts where name like $1 order by name"
_TRANSFERS: Final = """
select count(*) from pgledger_create_transfers(transfer_requests => $1::transfer_request[], metadata => $2::jsonb)
"""
# The transfers of a call are as many as its grants, or several times as many if it was made several times.
_COUNTED: Final = """
select number * $1::bigint + place % $1::bigint as number, count(*) as there from (
    select (metadata ->> 'call')::bigint as number,
        row_number() over (partition by metadata ->> 'call' order by id) - 1 as place
    from pgledger_transfers
) as numbered group by 1
"""
_SUMS: Final = """
select (select coalesce(sum(balance), 0) from pgledger_accounts where name like 'member%')::bigint,
    (select coalesce(sum(amount), 0) from pgledger_transfers)::bigint,
    (select coalesce(sum(balance), 0) from pgledger_accounts where name like 'issuer%')::bigint
"""


class PgLedger(NamedTuple):
    """In a database of its own on this server, from the SQL of a clone, or of one file."""

    server: str
    source: Path
    name: str = "pgledger"
    accounts: int = 2
    a_call: int = BATCH
    connections: int = CONNECTIONS

    @asynccontextmanager
    async def room(self, work: Work) -> AsyncIterator[Room]:
        filling = (
            _ACCOUNTS.format(kind="issuer", last=work.issuers - 1),
            _ACCOUNTS.format(kind="member", last=work.members - 1),
            "vacuum analyze pgledger_accounts",
        )
        async with database_with(self.server, *_scripts(self.source), *filling) as url:
            yield _Room(url, self.a_call)


def _scripts(source: Path) -> list[str]:
    """The functions for ULIDs that the clone carries, and its own SQL. Raises `Unavailable` if it is not there."""
    files = [*sorted(source.glob("vendor/*/*.sql")), source / "pgledger.sql"] if source.is_dir() else [source]
    try:
        return [file.read_text(encoding="utf-8") for file in files]
    except OSError as error:
        raise Unavailable("pgledger", f"{error}; name a clone of github.com/pgr0ss/pgledger") from error


class _Room(NamedTuple):
    url: str
    a_call: int

    @asynccontextmanager
    async def opened(self, connections: int) -> AsyncIterator[Ledger]:
        async with connected(self.url, connections) as pool:
            members, issuers = [[row["id"] for row in await pool.fetch(_IDS, like)] for like in ("member%", "issuer%")]
            yield _Ledger(pool, members, issuers, self.a_call)


class _Ledger:
    def __init__(self, pool: Any, members: Sequence[str], issuers: Sequence[str], a_call: int) -> None:
        self._pool = pool
        self._members = members
        self._issuers = issuers
        self._a_call = a_call

    async def post(self, grants: Sequence[Grant]) -> None:
        requests = [(self._issuers[grant.issuer], self._members[grant.member], POINTS) for grant in grants]
        await self._pool.fetchval(_TRANSFERS, requests, json.dumps({"call": grants[0].number // self._a_call}))

    async def counted(self) -> Counter[int]:
        return Counter({row["number"]: row["there"] for row in await self._pool.fetch(_COUNTED, self._a_call)})

    async def sums(self) -> Sums:
        return Sums(*await self._pool.fetchrow(_SUMS))

    async def size(self) -> int:
        return int(await self._pool.fetchval(SIZE))
