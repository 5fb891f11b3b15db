"""Seals that should have been written and were not."""

from datetime import datetime
from typing import Final

from abacus.core.overdue import LATE, Overdue
from abacus.platform import slices
from abacus.platform.postgres import Pool, passing_failures

_SEALED_AT: Final = "select max(sealed_at) from seal"
_POSTED: Final = "select posted_at from transfer order by xid limit 1"


async def overdue_seals(pool: Pool, now: datetime) -> list[Overdue]:
    """Raises `Unavailable`."""
    async with passing_failures():
        since = await pool.fetchval(_SEALED_AT) or await _first_posted_at(pool)
    if since is None or now - since <= LATE:
        return []
    return [Overdue("ledger seal", None, f"nothing is sealed since {since:%Y-%m-%d %H:%M} UTC", "abacus ledger seal")]


async def _first_posted_at(pool: Pool) -> datetime | None:
    async with pool.acquire() as connection:
        moments = await slices.each(connection, lambda: connection.fetchval(_POSTED))
    return min((moment for moment in moments if moment is not None), default=None)
