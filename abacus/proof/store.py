"""Making seals and reading them, and proving an account by one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.errors import Refused
from abacus.ledger.types.account import AccountId
from abacus.platform.following.lease import lease
from abacus.platform.postgres import Connection, Pool, passing_failures
from abacus.platform.sql import Statement, columns, parameters
from abacus.proof.decide.proof import Proof, proof_of
from abacus.proof.decide.seal import CURRENT, Seal, next_seal
from abacus.proof.tree import LeavesAdded, grow, quietly

_SEALS: Final = Statement(f"select {columns(Seal)} from seal order by number")
_LAST: Final = Statement(f"select {columns(Seal)} from seal order by number desc limit 1")
_NEWEST: Final = Statement(f"""
select {columns(Seal)} from seal where :before::bigint is null or number < :before order by number desc limit :limit
""")
_ONE: Final = Statement(f"select {columns(Seal)} from seal where number = :number")
_INSERT: Final = Statement(f"insert into seal ({columns(Seal)}) values ({parameters(Seal)})")

# A stamp may be greater than its writer's own id (docs/adr/0003). So a seal sees transfers stamped before the oldest
# transaction that is still open, and no others: all their writers have ended.
_SNAPSHOT: Final = "select xmin || ':' || xmin || ':' from pg_snapshot_xmin(pg_current_snapshot()) as xmin"

_LEASE: Final = "abacus ledger seal"


class Made(NamedTuple):
    """The last seal, and whether it was made just now."""

    seal: Seal
    is_new: bool


class Seals:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def make(self, *, if_older_than: timedelta = timedelta(0), progress: LeavesAdded = quietly) -> Made:
        """Seal the ledger as it stands, unless the last seal is younger than that. Posting may go on meanwhile.

        Raises `Refused` when a seal is being made already.
        """
        async with passing_failures(), self._alone() as connection:
            last = await _read(connection, _LAST())
            if last is not None and self._clock.now() - last.sealed_at < if_older_than:
                return Made(last, is_new=False)
            # Nothing is written before the end: the relay waits for every transaction that has begun to write.
            async with connection.transaction(isolation="repeatable_read"):
                sealed_at = self._clock.now()
                snapshot = await connection.fetchval(_SNAPSHOT)
                grown = await grow(connection, snapshot, last.number + 1 if last else 1, CURRENT, progress=progress)
                seal = next_seal(last, grown.sealed, snapshot, sealed_at)
                await connection.execute(*_INSERT(**seal._asdict()))
        return Made(seal, is_new=True)

    async def all(self) -> list[Seal]:
        async with passing_failures(), self._pool.acquire() as connection:
            return await all_seals(connection)

    async def newest(self, *, before: int | None, limit: int) -> list[Seal]:
        """The last ones, or the last before that number, the newest first."""
        async with passing_failures():
            return [Seal(*row) for row in await self._pool.fetch(*_NEWEST(before=before, limit=limit))]

    async def prove(self, account: AccountId, number: int | None = None, *, progress: LeavesAdded = quietly) -> Proof:
        """The account at this seal, or at the last one, proven. Raises `Refused` when it cannot be proven."""
        async with (
            passing_failures(),
            self._pool.acquire() as connection,
            connection.transaction(isolation="repeatable_read", readonly=True),
        ):
            seal = await _read(connection, _LAST() if number is None else _ONE(number=number))
            if seal is None:
                raise Refused("there is no such seal; `abacus ledger seals` lists them, `abacus ledger seal` makes one")
            if not seal.is_known:
                raise Refused(f"seal {seal.number} is of format {seal.format}, which this version does not know")
            grown = await grow(connection, seal.snapshot, seal.number, seal.format, watched=account, progress=progress)
        for fault in seal.compared(grown.sealed):
            raise Refused(f"{fault}; run `abacus ledger verify`")
        if grown.head is None:
            name = " ".join(account)
            raise Refused(f"{name} had no transfer yet at seal {seal.number}; `abacus ledger seal` makes a new one")
        return proof_of(seal, grown.head, grown.place, grown.path)

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[Connection]:
        async with self._pool.acquire() as connection, lease(connection, _LEASE) as is_ours:
            if not is_ours:
                raise Refused("a seal is being made already; let that end")
            yield connection


async def all_seals(connection: Connection) -> list[Seal]:
    return [Seal(*row) for row in await connection.fetch(*_SEALS())]


async def _read(connection: Connection, query: tuple[Any, ...]) -> Seal | None:
    row = await connection.fetchrow(*query)
    return Seal(*row) if row else None
