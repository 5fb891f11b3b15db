"""Other tests on the same Postgres, when it is one that several processes of pytest share."""

import asyncio
from typing import Final

from abacus.platform.postgres import Pool

_WRITING: Final = """
select transactionid::text from pg_locks join pg_stat_activity using (pid)
where locktype = 'transactionid' and mode = 'ExclusiveLock' and granted and datname <> current_database()
"""


async def neighbours_are_through(pool: Pool) -> None:
    """Wait out the open transactions of other databases: readers stop at the oldest one of the whole server."""
    begun = {row[0] for row in await pool.fetch(_WRITING)}
    async with asyncio.timeout(60):
        while begun & {row[0] for row in await pool.fetch(_WRITING)}:  # noqa: ASYNC110  # they are another process's
            await asyncio.sleep(0.02)
