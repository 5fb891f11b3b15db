"""Workers on the real services as in production, each in a process of its own, with a load, and the CPU of each."""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any, Final
from urllib.parse import urlsplit

import psutil

from abacus.core.clock import SystemClock
from abacus.ledger.relay.cursor import RelayCursor
from abacus.platform.kafka.groups import committed
from abacus.platform.postgres import Pool, open_pool
from abacus.platform.settings import Settings
from abacus.platform.sqs.definition import AWARD
from abacus.platform.sqs.queue import SqsQueue, sqs_client
from benchmarks.cpu_cost import Run
from benchmarks.load import Ends
from benchmarks.pipeline import environment, worker

LOAD: Final = "load"
POSTGRES: Final = "Postgres"
_SETTLED_WITHIN_S: Final = 300.0
_LOOK_EVERY_S: Final = 0.1

_CONNECTIONS: Final = "select pid, client_port from pg_stat_activity where client_port > 0"


class Workbench:
    """The processes by name, and ways to look at them from outside."""

    def __init__(self, settings: Settings, pool: Pool, queue: SqsQueue, produced: Ends, published: Ends) -> None:
        self.settings = settings
        self.pool = pool
        self.published = published
        self._queue = queue
        self._produced = produced
        self._pids: dict[str, list[int]] = {}
        listeners = listening()
        self._postmaster = listeners.get(urlsplit(settings.required("database_url")).port or 0)
        ports = {
            "kafka": int(settings.required("kafka_bootstrap").rpartition(":")[2]),
            "elasticmq": urlsplit(settings.sqs_endpoint_url or "").port or 0,
        }
        self._services = {name: listeners[port].pid for name, port in ports.items() if port in listeners}

    @asynccontextmanager
    async def workers(
        self, counts: Mapping[str, int], *, module: Sequence[str] = ("abacus", "worker")
    ) -> AsyncIterator[None]:
        """Run so many processes of each worker until the block ends. Raises `RuntimeError` if one has ended by then."""
        async with AsyncExitStack() as stack:
            crew: list[tuple[str, asyncio.subprocess.Process]] = [
                (name, await stack.enter_async_context(worker(name, self.settings, module=module)))
                for name, count in counts.items()
                for _ in range(count)
            ]
            self._pids = {name: [process.pid for each, process in crew if each == name] for name in counts}
            yield
            ended = [name for name, process in crew if process.returncode is not None]
            self._pids = {}
            if ended:
                raise RuntimeError(f"ended early: {', '.join(ended)}")

    def processes(self, name: str) -> Sequence[int]:
        return self._pids[name]

    @asynccontextmanager
    async def load(self, arguments: Sequence[str]) -> "AsyncIterator[asyncio.Task[int]]":
        """Run the load in a process of its own, until it has sent all its messages or the block ends. The task
        returns how many it sent. The block begins when the first of them are published.
        """
        before = await self.published.count()

        async def some_published() -> bool:
            return await self.published.count() > before

        async with self.sending(arguments) as sending:
            await until(some_published)
            yield sending

    @asynccontextmanager
    async def sending(
        self, arguments: Sequence[str], *, name: str = LOAD, module: str = "benchmarks.load"
    ) -> "AsyncIterator[asyncio.Task[int]]":
        """The same, and the block begins at once. Another module sends other messages, under another name."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", module, *arguments),
            env=environment(self.settings),
            stdout=asyncio.subprocess.PIPE,
        )
        self._pids[name] = [process.pid]

        async def sent() -> int:
            told, _ = await process.communicate()
            return int(json.loads(told.splitlines()[-1])["sent"])  # the line before says that it was told to end

        sending = asyncio.create_task(sent())
        try:
            yield sending
        finally:
            if process.returncode is None:
                process.terminate()
            await asyncio.wait((sending,))
        await sending

    async def measured(self, seconds: float, into: int = 1) -> list[Run]:
        """Watch for so many seconds, in slices: the transactions that were published, and the CPU."""
        runs: list[Run] = []
        cpu, published, began = await self.cpu(), await self.published.count(), time.monotonic()
        for _ in range(into):
            await asyncio.sleep(seconds / into)
            cpu_now, published_now, now = await self.cpu(), await self.published.count(), time.monotonic()
            used = {name: cpu_now[name] - cpu.get(name, 0.0) for name in cpu_now}
            runs.append(Run(published_now - published, now - began, used))
            print(
                f"  published {runs[-1].per_s:,.0f}/s, {runs[-1].cpu_us:.0f} µs of CPU each",
                file=sys.stderr,
                flush=True,
            )
            cpu, published, began = cpu_now, published_now, now
        return runs

    async def burst(self, arguments: Sequence[str], most: int) -> Run:
        """Send a burst of so many messages; measure from the first of them on the topic until all are done."""
        before = await self._produced.count()

        async def some_produced() -> bool:
            return await self._produced.count() > before

        async with self.sending(arguments) as sending:
            await until(some_produced)
            cpu, began = await self.cpu(), time.monotonic()
            await sending
            await self.settled()
            seconds, cpu_now = time.monotonic() - began, await self.cpu()
        return Run(most, seconds, {name: cpu_now[name] - cpu.get(name, 0.0) for name in cpu_now if name != LOAD})

    async def settled(self) -> None:
        """Wait until everything produced is read, everything awarded is posted, and everything posted is published."""
        settings = self.settings
        bootstrap, group = settings.required("kafka_bootstrap"), f"{settings.queue_prefix}calculator"
        relay = RelayCursor(self.pool, settings.points_topic, SystemClock())

        async def all_read() -> bool:
            read = await committed(bootstrap, settings.transactions_topic, group)
            return sum(read.values()) >= await self._produced.count()

        async def none_queued() -> bool:
            return not await self._queue.holds()

        async def none_unpublished() -> bool:
            return not await relay.waiting()

        await until(all_read)
        await until(none_queued)
        await until(none_unpublished)

    async def all_published(self) -> None:
        """Wait likewise, where each message is a transaction of its own that earns points."""

        async def published() -> bool:
            return await self.published.count() >= await self._produced.count()

        await until(published)

    async def backlog(self) -> int:
        """The number of transactions that are produced and not published."""
        return await self._produced.count() - await self.published.count()

    async def cpu(self) -> dict[str, float]:
        """CPU seconds so far by name; for Postgres, by the process that it serves. A process that has ended counts
        no more.
        """
        seconds = {name: sum(map(cpu_seconds, pids)) for name, pids in self._pids.items()}
        seconds |= {name: cpu_seconds(pid) for name, pid in self._services.items()}
        working_for = await self._working_for()
        if self._postmaster is not None:
            itself = f"{POSTGRES}, for itself"
            seconds[itself] = with_ended_children(self._postmaster)
            for child in self._postmaster.children():
                name = working_for.get(child.pid, itself)
                seconds[name] = seconds.get(name, 0.0) + cpu_seconds(child.pid)
        return seconds

    async def _working_for(self) -> dict[int, str]:
        """The process that each process of Postgres serves, by the port that its client connects from."""
        owners: dict[int, str] = {}
        for name, pids in self._pids.items():
            for pid in pids:
                with suppress(psutil.Error):
                    ports = [each.laddr.port for each in psutil.Process(pid).net_connections()]
                    owners |= dict.fromkeys(ports, f"{POSTGRES}, for the {name}")
        rows: list[Any] = await self.pool.fetch(_CONNECTIONS)
        return {row["pid"]: owners[row["client_port"]] for row in rows if row["client_port"] in owners}


async def until(reached: Callable[[], Awaitable[bool]]) -> None:
    """Wait until other processes get there. Raises `TimeoutError` after five minutes."""
    async with asyncio.timeout(_SETTLED_WITHIN_S):
        while not await reached():  # noqa: ASYNC110  # it is other processes that get there
            await asyncio.sleep(_LOOK_EVERY_S)


def listening() -> dict[int, psutil.Process]:
    """The process of this machine that listens on each port."""
    processes: dict[int, psutil.Process] = {}
    for each in psutil.net_connections("tcp"):
        if each.laddr and each.status == psutil.CONN_LISTEN and each.pid:
            with suppress(psutil.NoSuchProcess):  # it ended just now
                processes[each.laddr.port] = psutil.Process(each.pid)
    return processes


def cpu_seconds(pid: int) -> float:
    """The processor time of a process so far, to less than the system's tick where that can be told; 0 when it has
    ended.
    """
    with suppress(OSError):
        return time.clock_gettime(~pid << 3 | 2)  # the clock that Linux' clock_getcpuclockid() names
    with suppress(psutil.Error):
        return float(sum(psutil.Process(pid).cpu_times()[:2]))
    return 0.0


def with_ended_children(process: psutil.Process) -> float:
    """The processor time of a process and of its children that have ended."""
    return cpu_seconds(process.pid) + float(sum(process.cpu_times()[2:4]))


@asynccontextmanager
async def workbench(settings: Settings) -> AsyncIterator[Workbench]:
    """A workbench in these rooms, without workers yet."""
    bootstrap = settings.required("kafka_bootstrap")
    async with AsyncExitStack() as stack:
        pool = await open_pool(settings.required("database_url"), size=2, role=None)
        stack.push_async_callback(pool.close)
        client = await stack.enter_async_context(sqs_client(settings.sqs_endpoint_url))
        queue = await SqsQueue.find(client, settings.queue_prefix + AWARD)
        produced = await stack.enter_async_context(Ends(bootstrap, settings.transactions_topic))
        published = await stack.enter_async_context(Ends(bootstrap, settings.points_topic))
        yield Workbench(settings, pool, queue, produced, published)
