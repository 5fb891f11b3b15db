"""Erasing a member: in one transaction, by the owner of the tables, verified before and after."""

import json
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.errors import Refused, absent
from abacus.oversight.erasure.decide.pseudonym import PSEUDONYM, Pseudonym
from abacus.oversight.erasure.inventory import AFTER_ACCOUNTS, BEFORE_ACCOUNTS
from abacus.oversight.erasure.ledger import Head, lock_heads, rename_accounts, settle_with_relay
from abacus.platform import slices
from abacus.platform.postgres import SET_ON_ALL_SERVERS, Connection, Pool, passing_failures
from abacus.platform.slices import SliceMap, slice_map_of
from abacus.platform.sql import Statement, columns, parameters
from abacus.proof.decide.account_chain import Recompute
from abacus.proof.verify import verify_accounts

_MAY_ERASE: Final = """
select current_user, pg_has_role(current_user, relowner, 'usage') from pg_class where oid = 'transfer'::regclass
"""

# The triggers let the names of one member be changed, whom this setting names; it ends with the transaction.
_ALLOW_RENAMING: Final = Statement("select format('set local abacus.erasing = %L', :member_id::text)")

# Called with the accounts before they are renamed, for a caller that keeps hashes of them elsewhere.
KeepHeads = Callable[[Connection, Pseudonym, Sequence[Head]], Awaitable[None]]


class Erasure(NamedTuple):
    """The record of an erasure, without the name. `accounts` has for each account its number of transfers, its
    balance, and the head of its chain before and after; `rows` has the number of rows touched, by table.
    """

    pseudonym: str
    erased_at: datetime
    erased_by: str
    reason: str
    accounts: list[dict[str, Any]]
    rows: dict[str, int]


_RECORD: Final = Statement(f"""
insert into erasure ({columns(Erasure)}) values ({parameters(Erasure)})
""")
_NEWEST: Final = Statement(f"""
select {columns(Erasure)} from erasure order by erased_at desc, pseudonym limit :limit
""")


# Called with the record, in the transaction that writes it.
Also = Callable[[Connection, Erasure], Awaitable[None]]


async def _nothing_else(_: Connection, __: Erasure) -> None:
    """Nothing more belongs to the erasure."""


class Eraser:
    """Erases members. Needs a pool of the login that owns the tables. Every method raises `Unavailable` while the
    database is away.
    """

    def __init__(
        self, pool: Pool, clock: Clock, recompute: Recompute, *, before_renaming: Sequence[KeepHeads] = ()
    ) -> None:
        self._pool = pool
        self._clock = clock
        self._recompute = recompute
        self._before_renaming = before_renaming

    async def look(self, member_id: str) -> Erasure:
        """The erasure that would be made: it is made, and rolled back."""
        async with (await slices.slice_of(self._pool, member_id)).through() as connection:
            transaction = connection.transaction()
            await transaction.start()
            try:
                await self._allow(connection, member_id)
                return await self._erase(connection, member_id, "", "")
            finally:
                await transaction.rollback()

    async def erase(self, member_id: str, *, by: str, reason: str, also: Also = _nothing_else) -> Erasure:
        """Erase the member from every table. The ledger keeps its transfers, under a random pseudonym.

        Raises `Refused` for a member without any rows, for accounts that do not verify, and for a login without the
        right.
        """
        allow = partial(self._allow, member_id=member_id)
        async with slices.together(self._pool, member_id, first=allow) as connection:
            erasure = await self._erase(connection, member_id, by, reason)
            documents = {"accounts": _json(erasure.accounts), "rows": _json(erasure.rows)}
            await connection.execute(*_RECORD(**(erasure._asdict() | documents)))
            await also(connection, erasure)
        return erasure

    async def _allow(self, connection: Connection, member_id: str) -> None:
        await self._check_login(connection)
        await connection.execute(SET_ON_ALL_SERVERS)
        await connection.execute(await connection.fetchval(*_ALLOW_RENAMING(member_id=member_id)))

    async def _erase(self, connection: Connection, member_id: str, by: str, reason: str) -> Erasure:
        slice_map = await slice_map_of(self._pool)
        renaming = Pseudonym(member_id, _pseudonym(slice_map, slice_map.slice_of(member_id)))
        rows: Counter[str] = Counter()
        for treat in BEFORE_ACCOUNTS.values():
            rows += await treat(connection, renaming)
        # The ledger comes last: posting to its accounts waits while they are locked.
        heads = await lock_heads(connection, member_id)
        if heads:
            await self._prove(connection, member_id, "they do not hold together as they are")
        for treat in AFTER_ACCOUNTS.values():
            rows += await treat(connection, renaming)
        accounts: list[dict[str, Any]] = []
        if heads:
            await settle_with_relay(connection, member_id)
            for keep in self._before_renaming:
                await keep(connection, renaming, heads)
            touched, after = await rename_accounts(connection, renaming, heads)
            await self._prove(connection, renaming.pseudonym, "they would not hold together afterwards")
            rows += Counter(touched)
            accounts = [_account(*each) for each in zip(heads, after, strict=True)]
        if not rows:
            raise absent("member", member_id, "nothing is kept under this id")
        return Erasure(renaming.pseudonym, self._clock.now(), by, reason, accounts, dict(sorted(rows.items())))

    async def _check_login(self, connection: Connection) -> None:
        login, may = await connection.fetchrow(_MAY_ERASE)
        if not may:
            raise Refused(f"{login!r} may not erase; connect as the owner of the tables, who runs `abacus migrate`")

    async def _prove(self, connection: Connection, member_id: str, what: str) -> None:
        report = await verify_accounts(connection, self._recompute, member_id)
        if not report.clean:
            raise Refused(f"the member's accounts are left as they are: {what}; first: {report.faults[0]}")


def _pseudonym(slice_map: SliceMap, number: int) -> str:
    """A random one, of the same slice: the accounts stay where they are."""
    while True:
        drawn = PSEUDONYM + secrets.token_hex(16)
        if slice_map.slice_of(drawn) == number:
            return drawn


def _account(before: Head, after: Head) -> dict[str, Any]:
    return {
        "program": before.program,
        "transfers": before.transfers,
        "balance": before.balance,
        "head_before": before.hash.hex(),
        "head_after": after.hash.hex(),
    }


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


async def erasures(pool: Pool, limit: int) -> list[Erasure]:
    """The erasures, the newest first. Raises `Unavailable`."""
    async with passing_failures():
        rows = await pool.fetch(*_NEWEST(limit=limit))
    return [
        Erasure(**{**row, "accounts": json.loads(row["accounts"]), "rows": json.loads(row["rows"])})
        for row in map(dict, rows)
    ]
