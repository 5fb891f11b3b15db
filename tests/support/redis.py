"""A Redis of a test's own."""

import asyncio
import shutil
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.ports import free_port


class RunningRedis(NamedTuple):
    """Its address, and its process."""

    url: str
    process: asyncio.subprocess.Process

    def stall(self) -> None:
        """From now on it takes connections and answers nobody, until it goes on."""
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self.process.send_signal(signal.SIGCONT)


@asynccontextmanager
async def redis_server(folder: Path) -> AsyncIterator[str]:
    """Its address. The test is skipped where neither a Redis nor a Valkey is installed."""
    async with running_redis(folder) as running:
        yield running.url


@asynccontextmanager
async def running_redis(folder: Path) -> AsyncIterator[RunningRedis]:
    """Skips as well."""
    program = shutil.which("redis-server") or shutil.which("valkey-server")
    if program is None:
        pytest.skip("neither redis-server nor valkey-server is installed")
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder),
        stdout=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        async with asyncio.timeout(30):
            while not await _answers(port):  # noqa: ASYNC110  # it is another process
                await asyncio.sleep(0.02)
        yield RunningRedis(f"redis://127.0.0.1:{port}/0", process)
    finally:
        process.kill()
        await process.wait()


async def _answers(port: int) -> bool:
    with suppress(OSError):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"PING\r\n")
        answer = await reader.readline()
        writer.close()
        return answer == b"+PONG\r\n"
    return False
