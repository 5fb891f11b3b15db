"""The jobs that should have run and did not, as their capabilities tell them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from abacus.core.overdue import Overdue
from abacus.platform.postgres import Pool
from abacus.programs.expiry.overdue import overdue_month_ends
from abacus.programs.tiers.overdue import overdue_rolls
from abacus.proof.overdue import overdue_seals

# A capability with a job takes its place here.
_JOBS: Final = (overdue_month_ends, overdue_rolls, overdue_seals)


async def overdue(pool: Pool, now: datetime) -> Sequence[Overdue]:
    """Raises `Unavailable`."""
    return [each for job in _JOBS for each in await job(pool, now)]
