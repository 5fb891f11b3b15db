"""The table of processes."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID

from abacus.core.clock import Clock
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.presence.types import ProcessNote
from abacus.platform.sql import Statement, columns, parameters

_KEPT_FOR: Final = timedelta(days=7)  # the row of a process that did not end by itself

_NOTE: Final = Statement(f"""
insert into worker_process ({columns(ProcessNote)}) values ({parameters(ProcessNote)})
on conflict (process_id) do update set seen_at = excluded.seen_at, report = excluded.report
""")
_FORGET: Final = Statement("delete from worker_process where seen_at < :before")
_LEAVE: Final = Statement("delete from worker_process where process_id = :process_id")
_ALL: Final = Statement(f"select {columns(ProcessNote)} from worker_process order by host, started_at, process_id")


class Presence:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def note(self, process: ProcessNote) -> None:
        """The process runs. Rows of processes that have been silent for a week are deleted."""
        async with passing_failures():
            await self._pool.execute(*_NOTE(**process._asdict()))
            await self._pool.execute(*_FORGET(before=self._clock.now() - _KEPT_FOR))

    async def leave(self, process_id: UUID) -> None:
        """The process ends by itself."""
        async with passing_failures():
            await self._pool.execute(*_LEAVE(process_id=process_id))

    async def all(self) -> Sequence[ProcessNote]:
        async with passing_failures():
            return [ProcessNote(*row) for row in await self._pool.fetch(*_ALL())]
