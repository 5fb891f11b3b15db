"""End to end on the embedded stack, and the memory of each worker under that load, each in a process of its own."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

import psutil

from abacus.cli.examples.stream import stream
from abacus.cli.house.stack import make_ready
from abacus.core.clock import SystemClock
from abacus.ledger.relay.cursor import RelayCursor
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.kafka.publisher import StreamMessage, StreamPublisher
from abacus.platform.postgres import open_pool
from abacus.platform.settings import Settings
from benchmarks.report import Figure, rate
from workers import PIPELINE

WANTED: Final = 1_000
MOST_MEMORY: Final = 200 * 1024 * 1024
_STILL: Final = 50  # polls without a change, a tenth of a second apart


def measure_demo(transactions: int) -> list[Figure]:
    """Run `abacus demo` as a user does, and a tenth of it, to see how the time grows."""
    small, large = _demo(transactions // 10), _demo(transactions)
    return [
        Figure(
            f"end to end on the embedded stack, {large['transactions']:,} transactions, all workers in one process",
            rate(large["transactions_per_s"], "transactions"),
            f"{large['transactions_per_s'] / small['transactions_per_s']:.2f} of a tenth of them",
            f">= {WANTED:,}/s",
            large["transactions_per_s"] >= WANTED and large["ledger_verified"],
        ),
        Figure(
            "… produced to posted, median and p99, at full load", f"{large['p50_ms']:.0f} ms, {large['p99_ms']:.0f} ms"
        ),
    ]


def _demo(transactions: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "abacus", "demo", "--transactions", str(transactions), "--json"]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ABACUS_")}  # all embedded
    ran = subprocess.run(command, check=True, capture_output=True, text=True, env=clean)  # noqa: S603  # our own
    summary: dict[str, Any] = json.loads(ran.stdout)
    return summary


async def measure_memory(directory: Path, transactions: int) -> list[Figure]:
    async with AsyncExitStack() as stack:
        embedded = await stack.enter_async_context(EmbeddedStack(directory))
        settings = Settings(
            database_url=embedded.database_url,
            sqs_endpoint_url=embedded.sqs_endpoint_url,
            kafka_bootstrap=embedded.kafka_bootstrap,
        )
        await make_ready(settings)
        processes = {name: await stack.enter_async_context(worker(name, settings)) for name in PIPELINE}
        peaks = await _peaks_under_load(settings, processes, transactions)
    return [
        Figure(
            f"memory of the {name}, peak over {transactions:,} transactions",
            f"{peak / 1024 / 1024:.0f} MiB",
            f"{peak / MOST_MEMORY:.2f} of the limit",
            "< 200 MiB",
            peak < MOST_MEMORY,
        )
        for name, peak in peaks.items()
    ]


async def _peaks_under_load(
    settings: Settings, processes: dict[str, asyncio.subprocess.Process], transactions: int
) -> dict[str, int]:
    peaks = dict.fromkeys(processes, 0)
    sending = asyncio.create_task(_send(settings, transactions))
    pool = await open_pool(settings.required("database_url"), size=1)
    try:
        last, still = -1, 0
        while not sending.done() or still < _STILL:
            for name, process in processes.items():
                peaks[name] = max(peaks[name], psutil.Process(process.pid).memory_info().rss)
            posted = await pool.fetchval("select count(*) from claim")
            waiting = await RelayCursor(pool, settings.points_topic, SystemClock()).waiting()
            still = still + 1 if posted == last and posted and not waiting else 0
            last = posted
            await asyncio.sleep(0.1)
        sending.result()
    finally:
        await pool.close()
    return peaks


async def _send(settings: Settings, transactions: int) -> None:
    publisher = StreamPublisher(settings.required("kafka_bootstrap"))
    try:
        messages = [StreamMessage(sent.key, sent.value) for sent in stream(transactions)]
        for start in range(0, len(messages), 1000):
            await publisher.publish(settings.transactions_topic, messages[start : start + 1000])
    finally:
        await publisher.close()


def environment(settings: Settings) -> dict[str, str]:
    """The environment of a process of ours."""
    given = {
        f"ABACUS_{field.upper()}": str(value) for field, value in settings.model_dump().items() if value is not None
    }
    return {**os.environ, **given}


@asynccontextmanager
async def worker(
    name: str, settings: Settings, *, module: Sequence[str] = ("abacus", "worker")
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a worker in a process of its own, until the block ends."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", *module, name, env=environment(settings), stderr=asyncio.subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        process.terminate()
        await process.wait()
