"""The process that answers for offers, and the processor time that its requests took. It has a core of its own where
the system lets us give it one; callers and Postgres have the others.
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import NamedTuple

import psutil

from abacus.platform.settings import Settings
from benchmarks.api import Load, free_port, is_up, load
from benchmarks.paced import paced
from benchmarks.pipeline import environment, worker


class Served(NamedTuple):
    """Requests that one process answered, with the processor seconds that it took for them."""

    load: Load
    cpu_s: float

    @property
    def cpu_us(self) -> float:
        """Of one request."""
        return 1e6 * self.cpu_s / len(self.load.latencies_s)

    @property
    def per_core(self) -> float:
        return 1e6 / self.cpu_us

    @property
    def busy(self) -> float:
        """The share of a core that the process took meanwhile."""
        return self.cpu_us * self.load.per_s / 1e6


class InProcess(NamedTuple):
    """Microseconds of CPU that the application takes for a request, without sockets: for one product, and a page."""

    one: float
    page: float

    @property
    def per_core(self) -> float:
        return 1e6 / self.one


class OfferProcess(NamedTuple):
    """A process that answers."""

    process: psutil.Process
    port: int
    started_s: float

    async def serve(self, requests: Iterator[bytes], callers: int, seconds: float) -> Served:
        before = self._cpu_s()
        done = await load(self.port, requests, callers, seconds)
        return Served(done, self._cpu_s() - before)

    async def paced(self, requests: Iterator[bytes], per_s: float, seconds: float) -> Served:
        """By a clock, whatever the answers take."""
        before = self._cpu_s()
        done = await paced(self.port, requests, per_s, seconds)
        return Served(done, self._cpu_s() - before)

    def _cpu_s(self) -> float:
        times = self.process.cpu_times()
        return float(times.user + times.system)


@contextmanager
def core_left_free() -> Iterator[int | None]:
    """We, and what we start, have all cores but this one. None where there is one core, or the system has no such
    call.
    """
    if not hasattr(os, "sched_setaffinity"):
        yield None
        return
    cores = os.sched_getaffinity(0)
    free = max(cores) if len(cores) > 1 else None
    os.sched_setaffinity(0, cores - {free})
    try:
        yield free
    finally:
        os.sched_setaffinity(0, cores)


@asynccontextmanager
async def offer_process(
    settings: Settings, module: Sequence[str] = ("abacus", "worker"), *, core: int | None = None
) -> AsyncIterator[OfferProcess]:
    """It runs on this core, where one is named."""
    port = free_port()
    began, name = time.perf_counter(), "offers" if module[0] == "abacus" else ""
    async with worker(name, settings.model_copy(update={"offers_port": port}), module=module) as process:
        if core is not None:
            os.sched_setaffinity(process.pid, {core})
        await is_up(port)
        yield OfferProcess(psutil.Process(process.pid), port, time.perf_counter() - began)


async def asked_in_process(settings: Settings, key: str, members: int, seconds: float) -> InProcess:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "benchmarks.offers_in_process", key, str(members), str(seconds)),
        env=environment(settings),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    output, _ = await process.communicate()
    return InProcess(**json.loads(output.splitlines()[-1]))
