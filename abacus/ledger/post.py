"""Posting to Postgres: a batch is one transaction of five set-based statements.

Every batch takes its locks in one order, so two batches cannot wait for each other: the allowances of partners, then
accounts that exist, then keys, then accounts to be opened, each sorted. Accounts come before keys because a claim holds
the `seq` of its transfer and is never updated: the number has to be known when the key is claimed. A batch that meets a
key or an account that was not there when it looked starts again.

The relay publishes in the order of transaction ids, so along each account these must grow with `seq`. A transaction
gets its id with its first lock and may then wait for an account whose holder got a later id; `last_xid` shows that, and
the batch starts again with a new id. docs/adr/0003 has both arguments.
"""

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

import asyncpg

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.ledger.allowance import NOBODY, partners_of
from abacus.ledger.award import Award
from abacus.ledger.batch import Claim, Outcome, Unpostable, accounts_touched, plan
from abacus.ledger.standing import lock_standing, write_spending
from abacus.ledger.transfer import HASH_BYTES, Account, AccountId, Transfer
from abacus.postgres import REFUSED_VALUES, Connection, Pool, array, column, passing_failures

# Posting only ever looks rows up by key. These keep a planner whose statistics lag behind a growing table from
# scanning it; they belong to the connections that post (`open_pool(..., settings=POSTING_PLANS)`).
POSTING_PLANS: Final[Mapping[str, str]] = {
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
}

Row: TypeAlias = tuple[int, int]  # where a row stands: page and line

_RACES_BORNE: Final = 20

_CLAIMED: Final = f"""
select key, member_id, program, seq, fingerprint from claim where key = any({array(1, "text")})
"""

# What is asked for is sorted; `place` keeps that order, and tells which account a row is without sending its name back.
_LOCK: Final = f"""
select u.place, a.ctid, a.country, a.balance, a.held, a.earned_total, a.expires_on, a.last_seq, a.head_hash
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

_OPEN: Final = f"""
insert into account (member_id, program, country, balance, earned_total, expires_on, last_seq, head_hash, last_xid)
select member_id, program, country, balance, earned_total, expires_on, last_seq, decode(head_hash, 'hex'),
    pg_current_xact_id()
from unnest(
    {array(1, "text")}, {array(2, "text")}, {array(3, "text")}, {array(4, "bigint")}, {array(5, "bigint")},
    {array(6, "date")}, {array(7, "bigint")}, {array(8, "text")}
) as u (member_id, program, country, balance, earned_total, expires_on, last_seq, head_hash)
on conflict do nothing
"""


class _Overtaken(Exception):
    """Another batch claimed one of our keys or opened one of our accounts after our look, or posted to one of our
    accounts under a later id.
    """


class PostgresLedger:
    """`LedgerPort` on Postgres."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def post(self, awards: Sequence[Award]) -> list[Outcome]:
        for _ in range(_RACES_BORNE):
            try:
                async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
                    return await self._post(connection, awards)
            except _Overtaken:
                continue  # the next look sees the other batch's claims, and the next id is later than its id
            except REFUSED_VALUES as error:
                raise Unpostable(" ".join(str(error).split())) from error
        raise Unavailable("ledger", f"the batch was overtaken by others {_RACES_BORNE} times running")

    async def _post(self, connection: Connection, awards: Sequence[Award]) -> list[Outcome]:
        partners = partners_of(awards)
        # Under their lock, before any other look: what another batch claimed in the meantime must not be rejected.
        standing = await lock_standing(connection, partners, self._clock.now()) if partners else NOBODY
        keys = column({award.key for award in awards})
        claimed = {row[0]: Claim(*row) for row in await connection.fetch(_CLAIMED, keys)}
        rows, accounts = await _lock(connection, accounts_touched(awards, claimed))
        now = self._clock.now()
        decided = plan(awards, claimed, accounts, now, standing)
        if decided.transfers:
            await _claim(connection, decided.claims)
            # Opening comes before updating: who opens an account that is only locked is told so at once and starts
            # again, but who meets one that is being updated waits, and may hold what the updater wants to open.
            await _open(connection, [a for id_, a in decided.accounts.items() if id_ not in rows])
            await _update(connection, [(rows[id_], a) for id_, a in decided.accounts.items() if id_ in rows])
            await connection.copy_records_to_table("transfer", records=decided.transfers, columns=Transfer._fields)
        if partners:
            await write_spending(connection, partners, decided.spending, decided.rejections, now)
        return decided.outcomes


async def _lock(
    connection: Connection, touched: Mapping[AccountId, str]
) -> tuple[dict[AccountId, Row], dict[AccountId, Account]]:
    """Where the accounts touched stand, and what they hold. Those that do not exist are opened in memory only."""
    rows: dict[AccountId, Row] = {}
    accounts: dict[AccountId, Account] = {}
    if touched:
        members, programs = zip(*touched, strict=True)
        ids = list(touched)
        for place, row, *holds in await connection.fetch(_LOCK, column(members), column(programs)):
            id_ = ids[place - 1]
            rows[id_], accounts[id_] = row, Account(*id_, *holds)
    for id_, country in touched.items():
        if id_ not in accounts:
            accounts[id_] = Account.opened(id_, country)
    return rows, accounts


async def _claim(connection: Connection, claims: Sequence[Claim]) -> None:
    try:
        await connection.copy_records_to_table("claim", records=claims, columns=Claim._fields)
    except asyncpg.UniqueViolationError as error:
        raise _Overtaken from error


async def _update(connection: Connection, changed: Sequence[tuple[Row, Account]]) -> None:
    if not changed:
        return
    updated = await connection.execute(
        _UPDATE,
        column(row for row, _ in changed),
        column(account.balance for _, account in changed),
        column(account.earned_total for _, account in changed),
        column(account.expires_on and account.expires_on.toordinal() for _, account in changed),
        column(account.last_seq for _, account in changed),
        b"".join(account.head_hash for _, account in changed),
    )
    if updated != f"UPDATE {len(changed)}":
        raise _Overtaken


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
    )
    if opened != f"INSERT 0 {len(ordered)}":
        raise _Overtaken
