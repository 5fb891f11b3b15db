"""The ledger of the reference partner: one file of SQLite, written by one thread.

What arrives meanwhile is committed together, so a disk that syncs slowly costs no throughput. Nothing is answered
before it is durable.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from abacus.exchanges.partner_sim.transfers import TABLES
from abacus.platform.gatherer import Gatherer, PendingRequest

Result = TypeVar("Result")
_Work = Callable[[sqlite3.Connection], Any]


class Books:
    """`close` it at the end. Without a file the ledger goes with the process."""

    def __init__(self, file: Path | None = None) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="books")
        self._connection = self._thread.submit(_opened, file).result()
        self._gatherer: Gatherer[_Work, Any] = Gatherer(self._together, gather_s=0, at_once=1)

    async def do(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """What the work returns, once it is durable. Works run one after the other; one that fails takes those of the
        same commit with it.
        """
        result: Result = await self._gatherer.ask(work)
        return result

    async def close(self) -> None:
        await self._gatherer.close()
        await asyncio.get_running_loop().run_in_executor(self._thread, self._connection.close)
        self._thread.shutdown()

    async def _together(self, waiting: Sequence[PendingRequest[_Work, Any]]) -> None:
        works = [each.request for each in waiting]
        results = await asyncio.get_running_loop().run_in_executor(self._thread, self._commit, works)
        for each, result in zip(waiting, results, strict=True):
            each.answer(result)

    def _commit(self, works: Sequence[_Work]) -> Sequence[Any]:
        with self._connection:
            self._connection.execute("begin immediate")
            return [work(self._connection) for work in works]


def _opened(file: Path | None) -> sqlite3.Connection:
    connection = sqlite3.connect(file or ":memory:", isolation_level=None)
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma synchronous = full")
    connection.executescript(TABLES)
    return connection
