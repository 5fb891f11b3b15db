"""Our own ledger, `PostgresLedger`, as the awarder posts. A transfer changes the member's account alone."""

import re
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final, NamedTuple

from abacus.core.clock import SystemClock
from abacus.ledger.store.post import PostgresLedger
from abacus.platform.postgres import Pool
from abacus.platform.settings import Settings
from benchmarks.posting_rounds import BATCH, CONNECTIONS, MEMBERS, award, ledger_pool
from benchmarks.rivals.databases import SIZE
from benchmarks.rivals.port import Grant, Ledger, Room, Sums, Work
from benchmarks.services import own_database

_NUMBER: Final = re.compile(r"\d+$")
_KEYS: Final = "select key from transfer"
_SUMS: Final = """
select (select coalesce(sum(balance), 0) from account)::bigint, (select coalesce(sum(points), 0) from transfer)::bigint
"""


class Ours(NamedTuple):
    """In a database of its own on this server."""

    server: str
    name: str = "Abacus"
    accounts: int = 1
    a_call: int = BATCH
    connections: int = CONNECTIONS

    @asynccontextmanager
    async def room(self, work: Work) -> AsyncIterator[Room]:
        async with own_database(Settings(database_url=self.server)) as settings:
            url = settings.required("database_url")
            async with ledger_pool(url, 1, owner=True) as owner:
                await owner.execute(MEMBERS, work.members, timeout=600)
                await owner.execute("vacuum analyze account", timeout=600)
            yield _Room(url)


class _Room(NamedTuple):
    url: str

    @asynccontextmanager
    async def opened(self, connections: int) -> AsyncIterator[Ledger]:
        async with ledger_pool(self.url, connections) as pool, ledger_pool(self.url, 1, owner=True) as owner:
            yield _Ledger(pool, owner)


class _Ledger:
    def __init__(self, pool: Pool, owner: Pool) -> None:
        self._ledger = PostgresLedger(pool, SystemClock())
        self._owner = owner

    async def post(self, grants: Sequence[Grant]) -> None:
        await self._ledger.post([award(grant.number, grant.member) for grant in grants])

    async def counted(self) -> Counter[int]:
        keys = [row["key"] for row in await self._owner.fetch(_KEYS)]
        return Counter(int(found[0]) for key in keys if (found := _NUMBER.search(key)))

    async def sums(self) -> Sums:
        return Sums(*await self._owner.fetchrow(_SUMS))

    async def size(self) -> int:
        return int(await self._owner.fetchval(SIZE))
