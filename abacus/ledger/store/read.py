"""Reading the ledger: an account, a key's transfer."""

from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime
from itertools import chain
from operator import itemgetter
from typing import Any, Final, NamedTuple

from abacus.core.sources import source_sql
from abacus.ledger.store.key_search import claims_in_reach, claims_of
from abacus.ledger.types.account import Account, AccountBalance, AccountId
from abacus.ledger.types.port import Claim
from abacus.ledger.types.transfer import Transfer
from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.platform.sql import Statement, columns

ACCOUNT_COLUMNS: Final = columns(Account)
TRANSFER_COLUMNS: Final = columns(Transfer)


class Narrowing(NamedTuple):
    """Which transfers of a history are listed: of this kind, from this source or sort of source, and posted in this
    time, without its end. None: all.
    """

    kind: str | None = None
    source: str | None = None
    since: datetime | None = None
    before: datetime | None = None


WHOLE: Final = Narrowing()

# The newest transfers of each of a member's accounts below a position: an index scan an account.
_HISTORY: Final = Statement(f"""
select {columns(Transfer, "t")}
from unnest(:programs::text[], :belows::bigint[]) as u (program, below)
cross join lateral (
    select * from transfer t where t.member_id = :member_id and t.program = u.program and t.seq < u.below
        and (:kind::text is null or t.kind = :kind)
        and (:source::text is null or :source in ({source_sql("t")}, split_part({source_sql("t")}, ':', 1)))
        and (:since::timestamptz is null or t.posted_at >= :since)
        and (:before::timestamptz is null or t.posted_at < :before)
    order by t.seq desc limit :most
) t
order by t.posted_at desc, t.program, t.seq desc
limit :most
""")

# The standing of the account of a row called `u`.
STANDING: Final = "select a.balance, a.country from account a where a.member_id = u.member_id and a.program = u.program"
_STANDINGS: Final = Statement(f"""
select u.member_id, u.program, a.balance, a.country
from unnest(:member_ids::text[], :programs::text[]) as u (member_id, program) cross join lateral ({STANDING}) a
""")
_ACCOUNTS: Final = Statement(f"select {columns(Account)} from account where member_id = :member_id order by program")
_TRANSFER: Final = Statement(
    f"select {columns(Transfer)} from transfer where member_id = :member_id and program = :program and seq = :seq"
)
_TRANSFERS: Final = Statement(f"""
select {columns(Transfer, "t")} from unnest(:seqs::bigint[]) as u (seq)
join transfer t on t.member_id = :member_id and t.program = :program and t.seq = u.seq
""")
_TAKEN_BACK: Final = Statement("""
select coalesce(sum(points), 0)::bigint from transfer
where member_id = :member_id and program = :program and reverses = :key
""")


class RemainingLot(NamedTuple):
    """A lot, and the points that remain of it."""

    program: str
    seq: int
    key: str
    kind: str
    points: int
    remaining: int
    occurred_at: datetime
    expires_on: date | None
    source: str | None


# The points that remain of each lot: `lots_drawn` points are gone from the account's lots, from the oldest first. The
# lots of an account that does not lapse by lots all have the account's day.
_LOTS: Final = Statement(f"""
select {columns(RemainingLot)} from (
    select a.program, t.seq, t.key, t.kind, t.points, t.occurred_at, {source_sql("t")} as source,
        case when a.lifetime then t.expires_on else a.expires_on end as expires_on,
        least(t.points - d.drawn, (sum(t.points - d.drawn) over (order by t.seq)) - a.lots_drawn)::bigint as remaining
    from account a
    join transfer t on t.member_id = a.member_id and t.program = a.program and t.seq > a.lots_closed and t.points > 0
    cross join lateral (
        select coalesce(sum(d.points), 0) as drawn from draw d
        where d.member_id = t.member_id and d.program = t.program and d.lot_seq = t.seq
    ) d
    where a.member_id = :member_id and a.program = :program
) lots
where remaining > 0 and seq > :after
order by seq
limit :most
""")


class LedgerReader:
    """Reads accounts, claims and transfers. Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def accounts(self, member_id: str) -> Sequence[Account]:
        async with slices.at(self._pool, member_id) as connection:
            rows = await connection.fetch(*_ACCOUNTS(member_id=member_id))
        return [Account(*row) for row in rows]

    async def standings_of(self, accounts: Collection[AccountId]) -> Mapping[AccountId, AccountBalance]:
        """The standings of the accounts that exist."""
        found = await slices.split(
            self._pool, accounts, slices.fetched_by(_standings), member_of=itemgetter(0), patience_s=None
        )
        rows = chain.from_iterable(found.whole())
        return {(row["member_id"], row["program"]): AccountBalance(row["balance"], row["country"]) for row in rows}

    async def claim(self, key: str) -> Claim | None:
        return (await claims_of(self._pool, [key])).get(key)

    async def claims_of(self, keys: Collection[str]) -> Mapping[str, Claim]:
        return await claims_of(self._pool, keys)

    async def claims_in_reach(self, keys: Collection[str]) -> Mapping[str, Claim]:
        """Without claims on servers that are away. Raises `Unavailable` when all servers are."""
        return await claims_in_reach(self._pool, keys)

    async def transfer(self, claim: Claim) -> Transfer | None:
        return await self.at(claim.member_id, claim.program, claim.seq)

    async def at(self, member_id: str, program: str, seq: int) -> Transfer | None:
        async with slices.at(self._pool, member_id) as connection:
            row = await connection.fetchrow(*_TRANSFER(member_id=member_id, program=program, seq=seq))
        return Transfer(*row) if row else None

    async def taken_back(self, original: Transfer) -> int:
        """The points of the transfers that take this one back, with their sign."""
        place = {"member_id": original.member_id, "program": original.program, "key": original.key}
        async with slices.at(self._pool, original.member_id) as connection:
            return int(await connection.fetchval(*_TAKEN_BACK(**place)))

    async def these(self, member_id: str, program: str, seqs: Collection[int]) -> Mapping[int, Transfer]:
        """The transfers of an account at these places."""
        async with slices.at(self._pool, member_id) as connection:
            rows = await connection.fetch(*_TRANSFERS(member_id=member_id, program=program, seqs=list(seqs)))
        return {each.seq: each for each in (Transfer(*row) for row in rows)}

    async def history(
        self, member_id: str, below: Mapping[str, int], limit: int, narrowed: Narrowing = WHOLE
    ) -> Sequence[Transfer]:
        """The newest transfers first; of each program, transfers with a `seq` below the one given for it."""
        programs, belows = list(below), list(below.values())
        async with slices.at(self._pool, member_id) as connection:
            rows = await connection.fetch(
                *_HISTORY(member_id=member_id, programs=programs, belows=belows, most=limit, **narrowed._asdict())
            )
        return [Transfer(*row) for row in rows]

    async def lots(self, member_id: str, program: str, after: int, limit: int) -> Sequence[RemainingLot]:
        """The member's open lots with a `seq` beyond `after`, the oldest first."""
        async with slices.at(self._pool, member_id) as connection:
            rows = await connection.fetch(*_LOTS(member_id=member_id, program=program, after=after, most=limit))
        return [RemainingLot(*row) for row in rows]


def _standings(accounts: Sequence[AccountId]) -> tuple[Any, ...]:
    return _STANDINGS(member_ids=[each for each, _ in accounts], programs=[each for _, each in accounts])
