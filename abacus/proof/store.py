"""Making seals and reading them, and proving an account by one."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.errors import Refused, absent
from abacus.ledger.types.account import AccountId
from abacus.people.store.chain import chain_next, log_head
from abacus.platform.following.lease import lease
from abacus.platform.postgres import Connection, Pool, passing_failures
from abacus.platform.slices import Slice, slice_of, slices_of
from abacus.platform.sql import Statement, columns, parameters
from abacus.proof.decide.proof import Proof, in_slice, proof_of
from abacus.proof.decide.seal import CURRENT, Seal, Sealed, is_whole, next_seal, over_slices
from abacus.proof.tree import Grown, LeavesAdded, grow, quietly

_SEALS: Final = Statement(f"select {columns(Seal)} from seal order by number")
_LAST: Final = Statement(f"select {columns(Seal)} from seal order by number desc limit 1")
_NEWEST: Final = Statement(f"""
select {columns(Seal)} from seal where :before::bigint is null or number < :before order by number desc limit :limit
""")
_ONE: Final = Statement(f"select {columns(Seal)} from seal where number = :number")
_INSERT: Final = Statement(f"insert into seal ({columns(Seal)}) values ({parameters(Seal)})")

# A stamp may be greater than its writer's own id (docs/adr/0003). So a seal sees transfers stamped before the oldest
# transaction that is still open, and no others: all their writers have ended. In a slice it sees transfers up to the
# last place, in the same words.
_SNAPSHOT: Final = "select xmin || ':' || xmin || ':' from pg_snapshot_xmin(pg_current_snapshot()) as xmin"
_PLACES: Final = """
select beyond || ':' || beyond || ':'
from (select coalesce((select xid::text::bigint from transfer order by transfer.xid desc limit 1), 0) + 1 as beyond) p
"""


class SealedSlice(NamedTuple):
    """A row of `seal_slice`: what a seal has of a slice."""

    seal_number: int
    slice: int
    accounts: int
    transfers: int
    root: bytes

    @property
    def sealed(self) -> Sealed:
        return Sealed(self.accounts, self.transfers, self.root)


_INSERT_SLICE: Final = Statement(f"insert into seal_slice ({columns(SealedSlice)}) values ({parameters(SealedSlice)})")
_SLICES: Final = Statement(f"""
select {columns(SealedSlice)} from seal_slice where seal_number = any(:numbers::bigint[]) order by seal_number, slice
""")

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
            number, sealed_at = last.number + 1 if last else 1, self._clock.now()
            snapshots, slices = list[str](), list[Sealed]()
            for each in await slices_of(self._pool):
                snapshot, grown = await _grown(each, number, progress, sum(s.accounts for s in slices))
                snapshots.append(snapshot)
                slices.append(grown.sealed)
            while await chain_next(connection):
                pass
            # Nothing is written before the end: the relay waits for every transaction that has begun to write.
            log = await log_head(connection)
            seal = next_seal(last, over_slices(slices), " ".join(snapshots), sealed_at, log)
            rows = [SealedSlice(number, each, *sealed)._asdict() for each, sealed in enumerate(slices)]
            async with connection.transaction():
                await connection.execute(*_INSERT(**seal._asdict()))
                if not is_whole(slices):
                    await connection.executemany(*_INSERT_SLICE.rows(rows))
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
        home = await slice_of(self._pool, account[0])
        async with passing_failures(), self._pool.acquire() as connection:
            seal = await _read(connection, _LAST() if number is None else _ONE(number=number))
            if seal is None:
                raise absent(
                    "seal",
                    number or "of the last hour",
                    "`abacus ledger seals` prints all, `abacus ledger seal` makes one",
                )
            if not seal.is_known:
                raise Refused(f"seal {seal.number} is of format {seal.format}, which this version does not know")
            slices = await sealed_slices(connection, [seal])
        for fault in seal.compared_with(slices[seal.number]):
            raise Refused(f"{fault}; run `abacus ledger verify`")
        number = home.number
        async with _reading(home) as ledger:
            grown = await grow(
                ledger, seal.snapshots[number], seal.number, seal.format, watched=account, progress=progress
            )
        for fault in seal.compared_in(number, slices[seal.number][number], grown.sealed):
            raise Refused(f"{fault}; run `abacus ledger verify`")
        if grown.head is None:
            name = " ".join(account)
            raise Refused(f"{name} had no transfer yet at seal {seal.number}; `abacus ledger seal` makes a new one")
        return proof_of(seal, grown.head, grown.place, grown.path, in_slice(slices[seal.number], number))

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[Connection]:
        async with self._pool.acquire() as connection, lease(connection, _LEASE) as is_ours:
            if not is_ours:
                raise Refused("a seal is being made already; let that end")
            yield connection


@asynccontextmanager
async def _reading(slice_: Slice) -> AsyncIterator[Connection]:
    async with slice_.at() as connection, connection.transaction(isolation="repeatable_read", readonly=True):
        yield connection


async def _grown(slice_: Slice, number: int, progress: LeavesAdded, before: int) -> tuple[str, Grown]:
    """The tree of the slice as it stands, and the snapshot that it is of."""
    async with _reading(slice_) as ledger:
        snapshot: str = await ledger.fetchval(_SNAPSHOT if slice_.schema is None else _PLACES)
        grown = await grow(ledger, snapshot, number, CURRENT, progress=lambda added: progress(before + added))
    return snapshot, grown


async def sealed_slices(connection: Connection, seals: Sequence[Seal]) -> Mapping[int, Sequence[Sealed]]:
    """What each seal has of each slice, by its number; of the whole ledger, where that is not cut."""
    rows = [SealedSlice(*row) for row in await connection.fetch(*_SLICES(numbers=[each.number for each in seals]))]
    slices: dict[int, list[Sealed]] = {}
    for row in rows:
        slices.setdefault(row.seal_number, []).append(row.sealed)
    return {seal.number: slices.get(seal.number, [seal.sealed]) for seal in seals}


async def all_seals(connection: Connection) -> list[Seal]:
    return [Seal(*row) for row in await connection.fetch(*_SEALS())]


async def _read(connection: Connection, query: tuple[Any, ...]) -> Seal | None:
    row = await connection.fetchrow(*query)
    return Seal(*row) if row else None
