"""What halts journeys, read from their versions."""

from typing import Final

from abacus.engage.journeys.decide.halts import Halts
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement

_RESUMED: Final = Statement("select name, max(resumed_at) from journey where resumed_at is not null group by name")


async def read_halts(pool: Pool) -> Halts:
    """Raises `Unavailable`."""
    async with passing_failures():
        resumed = await pool.fetch(*_RESUMED())
    return Halts({row[0]: row[1] for row in resumed})
