"""Runs the workers of a process: starts and stops them together, and fails as a whole when one fails."""

import asyncio
import contextlib
import gc
import os
import signal
import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import structlog

from abacus.api.health import health_app
from abacus.api.http.wiring import http_limits
from abacus.api.server import bound, serve
from abacus.bootstrap import Wire, announcements_of, run_worker
from abacus.core.clock import Clock, SystemClock
from abacus.core.errors import AbacusError
from abacus.platform.health import Health
from abacus.platform.patience import unless_stopped
from abacus.platform.presence.presence_note import noted
from abacus.platform.settings import Settings

log = structlog.get_logger(__name__)

STOP_WITHIN_S: Final = 28.0
_AT_THE_LATEST_S: Final = 29.5  # for a worker that ignores cancellation; ending like kill -9 loses nothing


@contextlib.contextmanager
def stopped_by_signals(stop: asyncio.Event) -> Iterator[None]:
    """SIGTERM and SIGINT set `stop`; a second one ends the process at once, which loses nothing either."""

    def on_signal(number: int) -> None:
        if stop.is_set():
            os._exit(128 + number)
        log.info("stopping", signal=signal.Signals(number).name)
        last_resort = threading.Timer(_AT_THE_LATEST_S, os._exit, (1,))
        last_resort.daemon = True
        last_resort.start()
        stop.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal, number)
    try:
        yield
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)


def look_for_garbage_seldom() -> None:
    """Makes garbage collection rare: a batch is tens of thousands of values without a cycle, and Python would search
    them for cycles several times.
    """
    gc.freeze()  # imported modules stay for good
    gc.set_threshold(20_000, 10, 10)


async def run_workers(
    wires: Mapping[str, Wire],
    settings: Settings,
    health: Health,
    stop: asyncio.Event,
    *,
    health_port: int | None,
    within_s: float = STOP_WITHIN_S,
    clock: Clock | None = None,
) -> None:
    """Runs until `stop` is set and every worker has ended, or one has failed, whose error is raised. A worker that has
    not ended `within_s` is cut off. Workers tell the database's time, unless a clock is given.
    """
    look_for_garbage_seldom()
    announcements = announcements_of(settings)
    tasks: list[asyncio.Task[None]] = [
        asyncio.create_task(
            run_worker(name, wire, settings, health, stop, announcements=announcements, clock=clock), name=name
        )
        for name, wire in wires.items()
    ]
    tasks.append(asyncio.create_task(unless_stopped(announcements.keep_listening(), stop), name="announcements"))
    if health_port is not None:
        listener = bound(settings.api_host, health_port, "ABACUS_API_HOST and ABACUS_HEALTH_PORT")
        tasks.append(
            asyncio.create_task(serve(health_app(health), listener, stop, http_limits(settings)), name="health")
        )
    async with noted(settings.database_url, health, clock or SystemClock(), settings.told()):
        await _until_stopped_or_failed(tasks, stop)
        stop.set()
    await _end(tasks, within_s)


async def _until_stopped_or_failed(tasks: Iterable["asyncio.Task[None]"], stop: asyncio.Event) -> None:
    stopping = asyncio.ensure_future(stop.wait())
    await asyncio.wait((*tasks, stopping), return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()


async def _end(tasks: Iterable["asyncio.Task[None]"], within_s: float) -> None:
    """Waits for all workers to end; a worker that takes too long is cut off, and its work is done again later."""
    _, late = await asyncio.wait(tasks, timeout=within_s)
    for task in late:
        log.warning("worker cut off", worker=task.get_name(), after_s=within_s)
        task.cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    for task, result in zip(tasks, results, strict=True):
        if isinstance(result, Exception):
            if not isinstance(result, AbacusError):  # its text is for the operator; the caller prints it
                log.error("worker failed", worker=task.get_name(), exc_info=result)
            raise result
