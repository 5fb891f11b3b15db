"""The statements that every change of the ledger is made of: accounts locked, keys claimed, rows written.

Whoever posts takes its locks in one order, so two of them cannot wait for each other: the allowances of partners, then
accounts that exist, then keys, then accounts to be opened, each sorted. Accounts come before keys because a claim holds
the `seq` of its transfer and is never updated: the number has to be known when the key is claimed. Who meets a key or
an account that was not there when it looked starts again.

The relay publishes in the order of transaction ids, so along each account these must grow with `seq`. A transaction
gets its id with its first lock and may then wait for an account whose holder got a later id; `last_xid` shows that, and
it starts again with a new id. docs/adr/0003 has both arguments.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Final, TypeAlias, TypeVar

import asyncpg

from abacus.core.errors import Unavailable
from abacus.ledger.decide.lots import Draw
from abacus.ledger.types.account import Account, AccountId
from abacus.ledger.types.posting import Claim
from abacus.ledger.types.transfer import HASH_BYTES, Transfer
from abacus.platform.postgres import Connection, Pool, array, column, passing_failures

Result = TypeVar("Result")


Row: TypeAlias = tuple[int, int]  # where a row stands: page and line

_RACES_BORNE: Final = 20
_LOTS: Final = slice(-4, None)  # of an account's fields, those that say how far its lots are used up

_CLAIMED: Final = f"""
select key, member_id, program, seq, fingerprint from claim where key = any({array(1, "text")})
"""

# What is asked for is sorted; `place` keeps that order, and tells which account a row is without sending its name back.
_LOCK: Final = f"""
select u.place, a.ctid, a.country, a.balance, a.held, a.earned_total, a.expires_on, a.last_seq, a.head_hash,
    a.lots_closed, a.lots_drawn, a.lapsed_seq, a.lifetime
from unnest({array(1, "text")}, {array(2, "text")}) with ordinality as u (member_id, program, place)
join account a on a.member_id = u.member_id and a.program = u.program
order by u.place
for update of a
"""

# A locked row stays where it is, so its address finds it again without the index. Days go as numbers and hashes side by
# side in one value: turning texts into dates and bytes took a third of this statement's time.
_UPDATE: Final = f"""
update account a
set balance = u.balance, earned_total = u.earned_total, expires_on = date '0001-01-01' + (u.expires_on - 1),
    last_seq = u.last_seq,
    head_hash = substring($6::bytea from ({HASH_BYTES} * (u.place - 1) + 1)::int for {HASH_BYTES}),
    last_xid = pg_current_xact_id()
from unnest(
    {array(1, "tid")}, {array(2, "bigint")}, {array(3, "bigint")}, {array(4, "int")}, {array(5, "bigint")}
) with ordinality as u (row, balance, earned_total, expires_on, last_seq, place)
where a.ctid = u.row and a.last_xid < pg_current_xact_id()
"""

# As above, with what awards leave as it is.
_UPDATE_WHOLE: Final = f"""
update account a
set balance = u.balance, earned_total = u.earned_total, expires_on = date '0001-01-01' + (u.expires_on - 1),
    last_seq = u.last_seq,
    head_hash = substring($6::bytea from ({HASH_BYTES} * (u.place - 1) + 1)::int for {HASH_BYTES}),
    held = u.held, lots_closed = u.lots_closed, lots_drawn = u.lots_drawn, lapsed_seq = u.lapsed_seq,
    lifetime = u.lifetime, last_xid = pg_current_xact_id()
from unnest(
    {array(1, "tid")}, {array(2, "bigint")}, {array(3, "bigint")}, {array(4, "int")}, {array(5, "bigint")},
    {array(7, "bigint")}, {array(8, "bigint")}, {array(9, "bigint")}, {array(10, "bigint")}, {array(11, "boolean")}
) with ordinality as u (row, balance, earned_total, expires_on, last_seq, held, lots_closed, lots_drawn, lapsed_seq,
    lifetime, place)
where a.ctid = u.row and a.last_xid < pg_current_xact_id()
"""

_OPEN: Final = f"""
insert into account (member_id, program, country, balance, earned_total, expires_on, last_seq, head_hash, lifetime,
    last_xid)
select member_id, program, country, balance, earned_total, expires_on, last_seq, decode(head_hash, 'hex'), lifetime,
    pg_current_xact_id()
from unnest(
    {array(1, "text")}, {array(2, "text")}, {array(3, "text")}, {array(4, "bigint")}, {array(5, "bigint")},
    {array(6, "date")}, {array(7, "bigint")}, {array(8, "text")}, {array(9, "boolean")}
) as u (member_id, program, country, balance, earned_total, expires_on, last_seq, head_hash, lifetime)
on conflict do nothing
"""


class Overtaken(Exception):
    """Another transaction claimed one of our keys or opened one of our accounts after our look, or posted to one of our
    accounts under a later id.
    """


async def in_a_transaction(pool: Pool, work: Callable[[Connection], Awaitable[Result]]) -> Result:
    """Do it in one transaction, and from the start when it is overtaken: then it sees what the others wrote, and its id
    is later than theirs. Raises `Unavailable`.
    """
    for _ in range(_RACES_BORNE):
        try:
            async with passing_failures(), pool.acquire() as connection, connection.transaction():
                return await work(connection)
        except Overtaken:
            continue
    raise Unavailable("ledger", f"the batch was overtaken by others {_RACES_BORNE} times running")


async def claimed(connection: Connection, keys: Iterable[str]) -> dict[str, Claim]:
    """Of these keys those that are taken."""
    return {row[0]: Claim(*row) for row in await connection.fetch(_CLAIMED, column(keys))}


async def lock_accounts(
    connection: Connection, ids: Sequence[AccountId]
) -> tuple[dict[AccountId, Row], dict[AccountId, Account]]:
    """Of these accounts, sorted, those that exist: where they stand and what they hold."""
    rows: dict[AccountId, Row] = {}
    accounts: dict[AccountId, Account] = {}
    if ids:
        members, programs = zip(*ids, strict=True)
        for place, row, *holds in await connection.fetch(_LOCK, column(members), column(programs)):
            id_ = ids[place - 1]
            rows[id_], accounts[id_] = row, Account(*id_, *holds)
    return rows, accounts


async def write(
    connection: Connection,
    rows: Mapping[AccountId, Row],
    accounts: Mapping[AccountId, Account],
    claims: Sequence[Claim],
    transfers: Sequence[Transfer],
    *,
    draws: Sequence[Draw] = (),
    whole: bool = False,
) -> None:
    """Write accounts as they are after these transfers, under these keys, both sorted. An account that has no row yet
    is opened. `whole` writes also what awards leave as it is: what is held, and the lots.
    """
    if not transfers:
        return
    await _claim(connection, claims)
    # Opening comes before updating: who opens an account that is only locked is told so at once and starts
    # again, but who meets one that is being updated waits, and may hold what the updater wants to open.
    await _open(connection, [account for id_, account in accounts.items() if id_ not in rows])
    await _update(connection, [(rows[id_], account) for id_, account in accounts.items() if id_ in rows], whole=whole)
    await connection.copy_records_to_table("transfer", records=transfers, columns=Transfer._fields)
    if draws:
        await connection.copy_records_to_table("draw", records=draws, columns=Draw._fields)


async def _claim(connection: Connection, claims: Sequence[Claim]) -> None:
    try:
        await connection.copy_records_to_table("claim", records=claims, columns=Claim._fields)
    except asyncpg.UniqueViolationError as error:
        raise Overtaken from error


async def _update(connection: Connection, changed: Sequence[tuple[Row, Account]], *, whole: bool) -> None:
    if not changed:
        return
    columns: list[object] = [
        column(row for row, _ in changed),
        column(account.balance for _, account in changed),
        column(account.earned_total for _, account in changed),
        column(account.expires_on and account.expires_on.toordinal() for _, account in changed),
        column(account.last_seq for _, account in changed),
        b"".join(account.head_hash for _, account in changed),
    ]
    if whole:
        columns.append(column(account.held for _, account in changed))
        columns += (column(values) for values in zip(*(account[_LOTS] for _, account in changed), strict=True))
    updated = await connection.execute(_UPDATE_WHOLE if whole else _UPDATE, *columns)
    if updated != f"UPDATE {len(changed)}":
        raise Overtaken


async def _open(connection: Connection, accounts: Sequence[Account]) -> None:
    if not accounts:
        return
    ordered = sorted(accounts)
    opened = await connection.execute(
        _OPEN,
        column(account.member_id for account in ordered),
        column(account.program for account in ordered),
        column(account.country for account in ordered),
        column(account.balance for account in ordered),
        column(account.earned_total for account in ordered),
        column(account.expires_on for account in ordered),
        column(account.last_seq for account in ordered),
        column(account.head_hash.hex() for account in ordered),
        column(account.lifetime for account in ordered),
    )
    if opened != f"INSERT 0 {len(ordered)}":
        raise Overtaken
