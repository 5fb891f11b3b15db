"""Interleavings that are forced: who should wait is seen to wait before the one it waits for goes on."""

import asyncio
from typing import Any, Final

from abacus.platform.postgres import Connection, Pool

_WAITING: Final = """
select count(*) from pg_stat_activity where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0
"""


async def waiting(pool: Pool, *going: asyncio.Task[Any]) -> None:
    """Until all of these wait for others. One that is done did not have to, and the test fails at once."""
    while await pool.fetchval(_WAITING) != len(going):  # only the server knows
        for each in going:
            assert not each.done(), f"{each} waits for nobody"
        await asyncio.sleep(0.01)


async def free(connection: Connection, table: str, column: str) -> set[str]:
    """Which of the table's rows nobody has locked."""
    rows = await connection.fetch(f"select {column} from {table} for update skip locked")
    return {row[0] for row in rows}
