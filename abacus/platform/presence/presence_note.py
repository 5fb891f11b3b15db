"""A process that notes its presence in a table while it runs, and never fails or waits because of that."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import Final
from uuid import UUID, uuid4

import structlog
from prometheus_client.registry import Collector

from abacus import __version__
from abacus.core.clock import Clock
from abacus.core.errors import AbacusError
from abacus.platform.health import Health
from abacus.platform.metrics import (
    CACHE_ANSWERS,
    CACHE_BYTES,
    CACHE_ENTRIES,
    CACHE_STALE_SECONDS,
    CARDS_AGE,
    QUEUE_AGE,
)
from abacus.platform.postgres import Pool, open_pool, passing_failures
from abacus.platform.presence.types import NOTED_EVERY_S, CacheNote, FailureNote, ProcessNote, Report, WorkerNote
from abacus.platform.sql import Statement, arrays, columns, parameters, unnested

_KEPT_FOR: Final = timedelta(days=7)  # the row of a process that did not end by itself
_FAILURES_KEPT_FOR: Final = timedelta(days=14)  # no dead letter waits for longer

_NOTE: Final = Statement(f"""
insert into worker_process ({columns(ProcessNote)}) values ({parameters(ProcessNote)})
on conflict (process_id) do update set seen_at = excluded.seen_at, report = excluded.report
""")
_FORGET: Final = Statement("delete from worker_process where seen_at < :before")
_LEAVE: Final = Statement("delete from worker_process where process_id = :process_id")
_ALL: Final = Statement(f"select {columns(ProcessNote)} from worker_process order by host, started_at, process_id")
_FAILED: Final = Statement(f"""
insert into queue_failure as f ({columns(FailureNote)})
select {columns(FailureNote)} from {unnested(FailureNote)} order by queue
on conflict (queue) do update set why = excluded.why, at = excluded.at, receives = excluded.receives
where f.at < excluded.at
""")
_FORGET_FAILURES: Final = Statement("delete from queue_failure where at < :before")
_FAILURES: Final = Statement(f"select {columns(FailureNote)} from queue_failure order by queue")


class Presence:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def note(self, process: ProcessNote, failures: Sequence[FailureNote] = ()) -> None:
        """The process runs, and has seen these failures. Rows of processes that have been silent for a week are
        deleted, and failures whose messages are no dead letters any more.
        """
        now = self._clock.now()
        async with passing_failures():
            await self._pool.execute(*_NOTE(**process._asdict()))
            await self._fail(failures)
            await self._pool.execute(*_FORGET(before=now - _KEPT_FOR))
            await self._pool.execute(*_FORGET_FAILURES(before=now - _FAILURES_KEPT_FOR))

    async def leave(self, process_id: UUID, failures: Sequence[FailureNote] = ()) -> None:
        """The process ends by itself, and has seen these failures."""
        async with passing_failures():
            await self._fail(failures)
            await self._pool.execute(*_LEAVE(process_id=process_id))

    async def failures(self) -> Sequence[FailureNote]:
        """The last of each queue."""
        async with passing_failures():
            return [FailureNote(*row) for row in await self._pool.fetch(*_FAILURES())]

    async def _fail(self, failures: Sequence[FailureNote]) -> None:
        if failures:
            await self._pool.execute(*_FAILED(**arrays(FailureNote, failures)))

    async def all(self) -> Sequence[ProcessNote]:
        async with passing_failures():
            return [ProcessNote(*row) for row in await self._pool.fetch(*_ALL())]


_NOTE_S: Final = 6.0
_LEAVE_S: Final = 1.0  # of the thirty seconds in which a process has to end

log = structlog.get_logger(__name__)


def report_of(health: Health, settings: Mapping[str, str]) -> Report:
    """The report of this process, by its health and its metrics."""
    workers = {name: WorkerNote(**each) for name, each in health.report().items()}
    queues = {labels["queue"]: age for labels, age in _samples(QUEUE_AGE)}
    ages = [age for _, age in _samples(CARDS_AGE) if 0 < age < float("inf")]  # 0 in a process without cards
    return Report(workers, dict(health.missed), queues, ages[0] if ages else None, settings, _caches())


def _caches() -> dict[str, CacheNote]:
    """A route without a single answer is left out."""
    answers: dict[str, dict[str, int]] = {}
    for labels, count in _samples(CACHE_ANSWERS, "_total"):
        if count:
            answers.setdefault(labels["route"], {})[labels["outcome"]] = int(count)
    entries, size, sums, counts = (
        {labels["route"]: value for labels, value in _samples(*each)}
        for each in (
            (CACHE_ENTRIES, ""),
            (CACHE_BYTES, ""),
            (CACHE_STALE_SECONDS, "_sum"),
            (CACHE_STALE_SECONDS, "_count"),
        )
    )
    return {
        route: CacheNote(
            by_outcome,
            int(entries.get(route, 0)),
            int(size.get(route, 0)),
            round(sums.get(route, 0.0) / (counts.get(route, 0.0) or 1.0), 1),
        )
        for route, by_outcome in answers.items()
    }


def failures_of(health: Health) -> Sequence[FailureNote]:
    return [FailureNote(queue, *each) for queue, each in health.failures.items()]


@asynccontextmanager
async def noted(
    database_url: str | None,
    health: Health,
    clock: Clock,
    settings: Mapping[str, str],
    *,
    every_s: float = NOTED_EVERY_S,
) -> AsyncIterator[None]:
    """Notes the process until the block ends, and then that it ended. A process without a database notes nothing. The
    settings are told to readers of notes.
    """
    if database_url is None:
        yield
        return
    process = ProcessNote(uuid4(), socket.gethostname(), os.getpid(), __version__, clock.now(), clock.now(), b"")

    async def note() -> None:
        now = process._replace(seen_at=clock.now(), report=report_of(health, settings).text)
        told = partial(Presence.note, process=now, failures=failures_of(health))
        await _quietly(database_url, clock, told, within_s=_NOTE_S)

    noting = asyncio.create_task(_keep(note, every_s))
    try:
        yield
    finally:
        noting.cancel()
        await asyncio.wait((noting,))
        leave = partial(Presence.leave, process_id=process.process_id, failures=failures_of(health))
        await _quietly(database_url, clock, leave, within_s=_LEAVE_S)


async def _keep(note: Callable[[], Awaitable[None]], every_s: float) -> None:
    while True:
        await note()
        await asyncio.sleep(every_s)


async def _quietly(
    database_url: str, clock: Clock, act: Callable[[Presence], Awaitable[None]], *, within_s: float
) -> None:
    """Connects, acts, and disconnects: a connection that idles for ten seconds is worth more to others. While the
    database is away nothing is noted, and the row falls silent by itself.
    """
    try:
        async with asyncio.timeout(within_s):
            pool = await open_pool(database_url, size=1, within_s=within_s)
            try:
                await act(Presence(pool, clock))
                await pool.close()
            finally:
                pool.terminate()
    except (AbacusError, TimeoutError):
        log.debug("the process is not noted")
    except Exception:
        log.exception("the process could not be noted")


def _samples(metric: Collector, part: str = "") -> list[tuple[dict[str, str], float]]:
    """Of a counter or a histogram one part."""
    return [
        (sample.labels, sample.value)
        for family in metric.collect()
        for sample in family.samples
        if sample.name == family.name + part
    ]
