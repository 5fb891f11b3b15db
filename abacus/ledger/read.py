"""Reading the ledger: an account, a key's transfer."""

from collections.abc import Mapping, Sequence
from typing import Final

from abacus.ledger.batch import Claim
from abacus.ledger.transfer import Account, Transfer
from abacus.postgres import Pool, passing_failures

ACCOUNT_COLUMNS: Final = ", ".join(Account._fields)
TRANSFER_COLUMNS: Final = ", ".join(Transfer._fields)


# The newest transfers of each of a member's accounts below a position: an index scan an account.
_HISTORY: Final = f"""
select {", ".join(f"t.{name}" for name in Transfer._fields)}
from unnest($2::text[], $3::bigint[]) as u (program, below)
cross join lateral (
    select * from transfer t where t.member_id = $1 and t.program = u.program and t.seq < u.below
    order by t.seq desc limit $4
) t
order by t.posted_at desc, t.program, t.seq desc
limit $4
"""


class LedgerReader:
    """Questions about what is posted. Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def accounts(self, member_id: str) -> Sequence[Account]:
        async with passing_failures():
            rows = await self._pool.fetch(
                f"select {ACCOUNT_COLUMNS} from account where member_id = $1 order by program", member_id
            )
        return [Account(*row) for row in rows]

    async def claim(self, key: str) -> Claim | None:
        async with passing_failures():
            row = await self._pool.fetchrow(
                "select key, member_id, program, seq, fingerprint from claim where key = $1", key
            )
        return Claim(*row) if row else None

    async def transfer(self, claim: Claim) -> Transfer | None:
        async with passing_failures():
            row = await self._pool.fetchrow(
                f"select {TRANSFER_COLUMNS} from transfer where member_id = $1 and program = $2 and seq = $3",
                claim.member_id,
                claim.program,
                claim.seq,
            )
        return Transfer(*row) if row else None

    async def history(self, member_id: str, below: Mapping[str, int], limit: int) -> Sequence[Transfer]:
        """The newest transfers first, of each program those with a `seq` below the one given for it."""
        async with passing_failures():
            rows = await self._pool.fetch(_HISTORY, member_id, list(below), list(below.values()), limit)
        return [Transfer(*row) for row in rows]
