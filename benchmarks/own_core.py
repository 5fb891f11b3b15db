"""A process that answers requests on a core of its own, and the processor time that they took."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import psutil

from benchmarks.api import Load, load
from benchmarks.paced import paced


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


class AskedProcess(NamedTuple):
    """A process that answers."""

    process: psutil.Process
    port: int

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


def put_on(core: int | None, pid: int) -> None:
    """The process runs on this core from now on, where one is named."""
    if core is not None:
        os.sched_setaffinity(pid, {core})
