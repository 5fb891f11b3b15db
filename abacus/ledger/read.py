"""Reading the ledger: an account, a key's transfer."""

from collections.abc import Sequence
from typing import Final

from abacus.ledger.batch import Claim
from abacus.ledger.transfer import Account, Transfer
from abacus.postgres import Pool, passing_failures

ACCOUNT_COLUMNS: Final = ", ".join(Account._fields)
TRANSFER_COLUMNS: Final = ", ".join(Transfer._fields)


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
