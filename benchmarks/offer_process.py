"""The process that answers for offers, and the processor time that its requests took. It has a core of its own where
the system lets us give it one; callers and Postgres have the others.
"""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

import psutil

from abacus.platform.settings import Settings
from benchmarks.api import free_port, is_up
from benchmarks.own_core import AskedProcess, Served, put_on
from benchmarks.pipeline import environment, worker


class InProcess(NamedTuple):
    """Microseconds of CPU that the application takes for a request, without sockets: for one product, and a page."""

    one: float
    page: float

    @property
    def per_core(self) -> float:
        return 1e6 / self.one


class OfferProcess(NamedTuple):
    """The process that answers for offers, and how long it took to start."""

    asked: AskedProcess
    started_s: float

    @property
    def process(self) -> psutil.Process:
        return self.asked.process

    @property
    def port(self) -> int:
        return self.asked.port

    async def serve(self, requests: Iterator[bytes], callers: int, seconds: float) -> Served:
        return await self.asked.serve(requests, callers, seconds)

    async def paced(self, requests: Iterator[bytes], per_s: float, seconds: float) -> Served:
        return await self.asked.paced(requests, per_s, seconds)


@asynccontextmanager
async def offer_process(
    settings: Settings, module: Sequence[str] = ("abacus", "worker"), *, core: int | None = None
) -> AsyncIterator[OfferProcess]:
    """It runs on this core, where one is named."""
    port = free_port()
    began, name = time.perf_counter(), "offers" if module[0] == "abacus" else ""
    async with worker(name, settings.model_copy(update={"offers_port": port}), module=module) as process:
        put_on(core, process.pid)
        await is_up(port)
        asked = AskedProcess(psutil.Process(process.pid), port)
        yield OfferProcess(asked, time.perf_counter() - began)


async def asked_in_process(settings: Settings, key: str, members: int, seconds: float) -> InProcess:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "benchmarks.offers_in_process", key, str(members), str(seconds)),
        env=environment(settings),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    output, _ = await process.communicate()
    return InProcess(**json.loads(output.splitlines()[-1]))
