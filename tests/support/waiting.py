"""Forced interleavings: a task that should wait is seen to wait before the one that it waits for goes on."""

import asyncio
from typing import Any, Final

from abacus.platform.postgres import Connection, Pool

_WAITING: Final = """
select count(*) from pg_stat_activity where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0
"""


_HAS_SERVERS: Final = "select to_regproc('run_command_on_all_nodes') is not null"
_WAITING_ON_SERVERS: Final = f"select sum(result::int) from run_command_on_all_nodes($${_WAITING}$$)"


async def waiting(pool: Pool, *going: asyncio.Future[Any]) -> None:
    """Returns when all these tasks wait for locks, each on the server that has what it waits for. A task that is done
    did not have to wait: the test fails at once.
    """
    counted = _WAITING_ON_SERVERS if await pool.fetchval(_HAS_SERVERS) else _WAITING
    while await pool.fetchval(counted) != len(going):  # only the server knows
        for each in going:
            assert not each.done(), f"{each} waits for nobody"
        await asyncio.sleep(0.01)


async def free(connection: Connection, table: str, column: str) -> set[str]:
    """The rows of the table that nobody has locked."""
    rows = await connection.fetch(f"select {column} from {table} for update skip locked")
    return {row[0] for row in rows}
