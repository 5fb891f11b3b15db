"""Processes of the program that the nursery forks: how they are requested, told of their end, and ended."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import count
from pathlib import Path
from typing import NamedTuple

from tests.support.paths import ROOT


class Born(NamedTuple):
    """A process, and the code that it will have ended with."""

    pid: int
    ended: "asyncio.Future[int]"

    def send(self, what: signal.Signals) -> bool:
        """Send the signal; whether the process was alive."""
        if self.ended.done():
            return False
        with suppress(ProcessLookupError):
            os.kill(self.pid, what)
            return True
        return False

    def kill(self) -> None:
        self.send(signal.SIGKILL)

    async def wait(self) -> int:
        """The code that it has ended with."""
        return await asyncio.shield(self.ended)  # others wait for it, too


class Nursery:
    """Requests processes; each request has a name, by which its answer is known. The nursery begins with the first."""

    def __init__(self) -> None:
        self._beginning = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None
        self._listening: asyncio.Task[None] | None = None
        self._names = count()
        self._awaited: dict[str, asyncio.Future[Born]] = {}
        self._living: dict[int, Born] = {}

    async def born(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        *,
        log: Path,
        out: Path | None = None,
        clock: Path | None = None,
    ) -> Born:
        """A process that runs `abacus` with these arguments. `clock` is the file that moves its time, if any."""
        name = str(next(self._names))
        self._awaited[name] = asyncio.get_running_loop().create_future()
        request = {
            "name": name,
            "arguments": list(arguments),
            "environment": dict(environment),
            "log": str(log),
            "out": str(out or log),
            "clock": clock and str(clock),
        }
        answer = self._awaited[name]
        requests = await self._requests()
        requests.write(f"{json.dumps(request)}\n".encode())
        await requests.drain()
        return await answer

    async def close(self) -> None:
        """Kills the processes that still live."""
        if self._process is not None and self._listening is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            await self._process.wait()
            await self._listening

    async def _requests(self) -> asyncio.StreamWriter:
        async with self._beginning:
            if self._process is None:
                self._process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-m", "tests.support.nursery"),
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    cwd=ROOT,
                    start_new_session=True,  # a Ctrl-C is for the run alone
                )
                assert self._process.stdout is not None
                self._listening = asyncio.create_task(self._listen(self._process.stdout))
        assert self._process.stdin is not None
        return self._process.stdin

    async def _listen(self, told_by_nursery: asyncio.StreamReader) -> None:
        async for line in told_by_nursery:
            told = json.loads(line)
            if "born" in told:
                born = Born(told["pid"], asyncio.get_running_loop().create_future())
                self._living[born.pid] = born
                self._awaited.pop(told["born"]).set_result(born)
            else:
                self._living.pop(told["ended"]).ended.set_result(told["code"])


@asynccontextmanager
async def opened_nursery() -> AsyncIterator[Nursery]:
    """Leaving the block kills whoever still lives."""
    nursery = Nursery()
    try:
        yield nursery
    finally:
        await nursery.close()
