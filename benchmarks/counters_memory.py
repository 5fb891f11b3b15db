"""A counter whose open rows are full. Prints their number and the most memory that its process has had.

Run as `python -m benchmarks.counters_memory DATABASE_URL`.
"""

import asyncio
import sys
from importlib import import_module

import orjson

from abacus.core.clock import SystemClock
from abacus.platform.postgres import LOOKUPS_BY_KEY, open_pool
from abacus.process import look_for_garbage_seldom
from abacus.signals.counters.open_rows import OpenRows
from abacus.signals.counters.store.postgres import PostgresCounterStore
from benchmarks.counters_writer import OPEN_ROWS, Rides, documents, writer_of
from benchmarks.memory import most_mib


async def main(database_url: str) -> None:
    import_module("workers.counter")  # all that the worker loads
    look_for_garbage_seldom()
    pool = await open_pool(database_url, size=3, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
    rows = OpenRows(OPEN_ROWS)
    store = PostgresCounterStore(pool, SystemClock())
    writer, rides = writer_of(pool, store, "full", documents(0), rows), Rides(of_few=False)
    empty, most = most_mib(), 0
    while most < OPEN_ROWS * 0.99:
        before, most = most, max(most, len(rows))
        if most == before and most:
            break  # half of them were forgotten at once
        await writer.handle(rides.batch())
    sys.stdout.write(orjson.dumps({"rows": most, "mib": most_mib(), "empty_mib": empty}).decode() + "\n")
    await pool.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
