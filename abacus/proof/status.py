"""The lines of seals in the state of things."""

from datetime import datetime
from typing import Final

from abacus.core.status import LATE, Overdue
from abacus.platform import slices
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.status import CapabilityStatus

_SEALED_AT: Final = "select max(sealed_at) from seal"
_POSTED: Final = "select posted_at from transfer order by xid limit 1"


async def _overdue(pool: Pool, now: datetime) -> list[Overdue]:
    async with passing_failures():
        since = await pool.fetchval(_SEALED_AT) or await _first_posted_at(pool)
    if since is None or now - since <= LATE:
        return []
    return [Overdue("ledger seal", None, f"nothing is sealed since {since:%Y-%m-%d %H:%M} UTC", "abacus ledger seal")]


async def _first_posted_at(pool: Pool) -> datetime | None:
    async with pool.acquire() as connection:
        moments = await slices.each(connection, lambda: connection.fetchval(_POSTED))
    return min((moment for moment in moments if moment is not None), default=None)


STATUS: Final = CapabilityStatus(overdue=_overdue)
