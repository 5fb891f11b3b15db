"""The statements that every change of the ledger is made of: accounts locked, keys claimed, rows written.

A transaction begins with its turn (`turns.py`), which says in which generation its rows lie.

Every writer takes its locks in one order, so two writers cannot wait for each other: the allowances of partners, then
accounts that exist, then keys, then accounts to be opened, each sorted. Accounts come before keys because a claim holds
the `seq` of its transfer and is never updated: the number has to be known when the key is claimed. A batch whose key or
new account was written by another since it looked starts again and reads the other's row.

Every transfer carries a stamp, `xid`, by which the relay orders them: the writer's transaction id, or the account's
last stamp where that is greater. docs/adr/0003 has the argument for both. In a ledger that is cut, the stamp is the
transaction's place in its slice, because the writers of a slice take turns: docs/adr/0061.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final, NamedTuple, TypeAlias, TypeVar

import asyncpg

from abacus.core.backoff import Backoff
from abacus.ledger.decide.lots import Draw
from abacus.ledger.metrics import POSTING_RESTARTS
from abacus.ledger.store.turns import Turn
from abacus.ledger.types.account import Account, AccountId
from abacus.ledger.types.port import Claim
from abacus.ledger.types.transfer import HASH_BYTES, Transfer
from abacus.platform.pool.citus_errors import is_refused_copy
from abacus.platform.postgres import Connection, is_duplicate
from abacus.platform.sql import Statement, array, column, text_arrays, text_columns

Result = TypeVar("Result")

Row: TypeAlias = tuple[int, int]  # where a row stands: page and line
Begun: TypeAlias = Callable[[], AbstractAsyncContextManager[Connection]]  # begins a transaction: a method of a `Slice`

_UNCERTAIN_TIMES: Final = 8
_PAUSE: Final = Backoff(first_s=0.002, longest_s=0.2)
_RNG: Final = random.Random()

# The ids are sorted; `place` keeps that order, and tells which account a row is without sending its name back.
# `ahead` is the account's last stamp where that is greater than the id of this transaction, and null almost always.
_LOCK: Final = Statement(f"""
select u.place, a.ctid, case when a.last_xid > pg_current_xact_id() then a.last_xid::text end as ahead,
    {", ".join(f"a.{name}" for name in Account._fields[2:])}
from unnest({array("members", "text")}, {array("programs", "text")}) with ordinality as u (member_id, program, place)
join account a on a.member_id = u.member_id and a.program = u.program
order by u.place
for update of a
""")

# The stamp that a change leaves on its account: the id of this transaction, unless the account is ahead of it; or its
# place in a slice. (Citus plans no change that reads the id.)
_BY_ID: Final = "greatest(a.last_xid, pg_current_xact_id())"
_BY_PLACE: Final = ":place::text::xid8"

_AWARDED: Final = ("balance", "earned_total", "last_seq")
_LEFT_BY_AWARDS: Final = ("held", "lots_closed", "lots_drawn", "lapsed_seq", "lifetime", "active_until")
_VESTING: Final = array("vesting", "text")  # each value an array of its own, as text
_BY_AWARDS: Final = f"{array('rows', 'tid')}, {array('expiry_days', 'int')}, {text_arrays(Account, *_AWARDED)}"
_WHOLE: Final = f"{_BY_AWARDS}, {text_arrays(Account, *_LEFT_BY_AWARDS)}, {_VESTING}"


def _set(stamp: str) -> str:
    """A locked row stays where it is, so its address finds it again without the index. Days go as numbers and hashes
    side by side in one value: turning texts into dates and bytes took a third of this statement's time.
    """
    return f"""
update account a
set balance = u.balance, earned_total = u.earned_total, expires_on = date '0001-01-01' + (u.expires_on - 1),
    last_seq = u.last_seq,
    head_hash = substring(:head_hashes::bytea from ({HASH_BYTES} * (u.place - 1) + 1)::int for {HASH_BYTES}),
    last_xid = {stamp}"""


def _update_by_awards(stamp: str) -> Statement:
    """An account by activity remembers the day that the award leaves it with."""
    return Statement(f"""with changed as ({_set(stamp)},
    active_until = greatest(a.active_until, date '0001-01-01' + (u.expires_on - 1))
from unnest({_BY_AWARDS}) with ordinality as u (row, expires_on, {", ".join(_AWARDED)}, place)
where a.ctid = u.row returning 1
) select count(*) from changed
""")


def _update_whole(stamp: str) -> Statement:
    """With the columns that awards leave as they are. What is pending becomes an array in the source of the rows: Citus
    plans no change that casts a text to one.
    """
    columns_of_rows = f"row, expires_on, {', '.join((*_AWARDED, *_LEFT_BY_AWARDS))}"
    return Statement(f"""with changed as ({_set(stamp)},
    held = u.held, lots_closed = u.lots_closed, lots_drawn = u.lots_drawn, lapsed_seq = u.lapsed_seq,
    lifetime = u.lifetime, active_until = u.active_until, vesting = u.vesting
from (
    select {columns_of_rows}, vesting::bigint[] as vesting, place
    from unnest({_WHOLE}) with ordinality as given ({columns_of_rows}, vesting, place)
) as u
where a.ctid = u.row returning 1
) select count(*) from changed
""")


# By whether this transaction has a place.
_UPDATE: Final = {False: _update_by_awards(_BY_ID), True: _update_by_awards(_BY_PLACE)}
_UPDATE_WHOLE: Final = {False: _update_whole(_BY_ID), True: _update_whole(_BY_PLACE)}

_OPENED: Final = ("member_id", "program", "country", *_AWARDED, "expires_on", "lifetime", "active_until")
_OPENED_COLUMNS: Final = f"head_hash, {', '.join(_OPENED)}"
_OPEN: Final = Statement(f"""with changed as (
insert into account ({_OPENED_COLUMNS}, vesting, last_xid)
select {_OPENED_COLUMNS}, vesting::bigint[], pg_current_xact_id()
from unnest({array("head_hashes", "bytea")}, {text_arrays(Account, *_OPENED)}, {_VESTING})
    as u ({_OPENED_COLUMNS}, vesting)
on conflict do nothing returning 1
) select count(*) from changed
""")


class Overtaken(Exception):
    """Another transaction claimed one of our keys, or opened one of our accounts, after we looked."""


class Locked(NamedTuple):
    """Accounts under lock in this turn: their values, where their rows stand, and the stamps that are ahead of ours; a
    place in a slice is ahead of none.
    """

    turn: Turn
    accounts: dict[AccountId, Account]
    rows: dict[AccountId, Row]
    ahead: dict[AccountId, int]


async def in_a_transaction(begun: Begun, work: Callable[[Connection], Awaitable[Result]]) -> Result:
    """The result of the work, done in one transaction. Raises `Unavailable`.

    Work that is overtaken is done again after a short, random pause, and then reads the other's row. It is not done
    again for ever: each time, one more of its keys or accounts is there for good. Where another server did not say why
    it takes no row, that is not certain, and what it said is raised after a few times.
    """
    attempt = 0
    while True:
        try:
            async with begun() as connection:
                return await work(connection)
        except Overtaken as overtaken:
            attempt += 1
            refusal = overtaken.__cause__
            if attempt == _UNCERTAIN_TIMES and refusal is not None and is_refused_copy(refusal):
                raise refusal from None
            POSTING_RESTARTS.inc()
            await asyncio.sleep(_PAUSE.wait(attempt, _RNG))


async def lock_accounts(connection: Connection, turn: Turn, ids: Sequence[AccountId]) -> Locked:
    """Lock the accounts that exist; `ids` are sorted."""
    locked = Locked(turn, {}, {}, {})
    if ids:
        members, programs = zip(*ids, strict=True)
        for place, row, ahead, *holds in await connection.fetch(
            *_LOCK(members=column(members), programs=column(programs))
        ):
            id_ = ids[place - 1]
            locked.rows[id_], locked.accounts[id_] = row, Account(*id_, *holds)
            if ahead is not None and turn.place is None:
                locked.ahead[id_] = int(ahead)
    return locked


async def write(
    connection: Connection,
    locked: Locked,
    accounts: Mapping[AccountId, Account],
    claims: Sequence[Claim],
    transfers: Sequence[Transfer],
    *,
    draws: Sequence[Draw] = (),
    whole: bool = False,
) -> None:
    """Write accounts as they are after these transfers, under these keys, both sorted. An account that has no row yet
    is opened. `whole` writes also the columns that most awards leave as they are: held points, lots, pending points.
    """
    if not transfers:
        return
    await _enter(connection, f"claim_{locked.turn.generation}", claims, Claim._fields)
    # Opening comes before updating: a batch that opens an account which another has only locked is told so at once and
    # starts again; it would wait for an account being updated, and may hold a row that the updater wants to open.
    await _open(connection, locked, [account for id_, account in accounts.items() if id_ not in locked.rows])
    known = [(locked.rows[id_], account) for id_, account in accounts.items() if id_ in locked.rows]
    await _update(connection, locked, known, whole=whole)
    await _append(connection, transfers, locked)
    if draws:
        await connection.copy_records_to_table("draw", records=draws, columns=Draw._fields)


async def _append(connection: Connection, transfers: Sequence[Transfer], locked: Locked) -> None:
    """In a slice all have the place of this transaction. Elsewhere the column's default stamps a transfer with our own
    transaction id, and an account that is ahead keeps its stamp.
    """
    place, table = locked.turn.place, f"transfer_{locked.turn.generation}"
    if place is not None:
        ours, stamped = [], [(*each, place) for each in transfers]
    else:
        ours = [each for each in transfers if each[:2] not in locked.ahead] if locked.ahead else list(transfers)
        stamped = [(*each, locked.ahead[each[:2]]) for each in transfers if each[:2] in locked.ahead]
    if ours:
        await connection.copy_records_to_table(table, records=ours, columns=Transfer._fields)
    if stamped:
        await connection.copy_records_to_table(table, records=stamped, columns=(*Transfer._fields, "xid"))


async def _enter(connection: Connection, table: str, rows: Sequence[tuple[object, ...]], names: Sequence[str]) -> None:
    """Rows that nobody else has written. Raises `Overtaken` if somebody has."""
    try:
        await connection.copy_records_to_table(table, records=rows, columns=names)
    except asyncpg.PostgresError as error:
        if not is_duplicate(error):
            raise
        raise Overtaken from error


async def _update(
    connection: Connection, locked: Locked, changed: Sequence[tuple[Row, Account]], *, whole: bool
) -> None:
    if not changed:
        return
    rows, accounts = zip(*changed, strict=True)
    values: dict[str, object] = {
        "rows": column(rows),
        "expiry_days": column(account.expires_on and account.expires_on.toordinal() for account in accounts),
        "head_hashes": b"".join(account.head_hash for account in accounts),
        **text_columns(Account, accounts, *_AWARDED),
    }
    if whole:
        values |= text_columns(Account, accounts, *_LEFT_BY_AWARDS) | {"vesting": _vesting(accounts)}
    place = locked.turn.place
    if place is not None:
        values["place"] = str(place)
    updated = await connection.fetchval(*(_UPDATE_WHOLE if whole else _UPDATE)[place is not None](**values))
    if updated != len(changed):
        raise AssertionError(f"{updated} of {len(changed)} locked accounts")  # they are locked, so they are there


async def _open(connection: Connection, locked: Locked, accounts: Sequence[Account]) -> None:
    if not accounts:
        return
    ordered = sorted(accounts)
    place = locked.turn.place
    if place is not None:
        rows = [(*account, place) for account in ordered]
        await _enter(connection, "account", rows, (*Account._fields, "last_xid"))
        return
    hashes = column(f"\\x{account.head_hash.hex()}" for account in ordered)
    values = text_columns(Account, ordered, *_OPENED)
    opened = await connection.fetchval(*_OPEN(head_hashes=hashes, vesting=_vesting(ordered), **values))
    if opened != len(ordered):
        raise Overtaken


def _vesting(accounts: Sequence[Account]) -> str:
    return column(each.vesting and f"{{{','.join(map(str, each.vesting))}}}" for each in accounts)
