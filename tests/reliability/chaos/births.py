"""Processes of the program that the nursery forks: how a run requests them, hears of their end, and ends them."""

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


class Nursery:
    """Requests processes; each request has a name, by which its answer is known."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
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
        assert self._process.stdin is not None
        self._process.stdin.write(f"{json.dumps(request)}\n".encode())
        await self._process.stdin.drain()
        return await self._awaited[name]

    async def listen(self) -> None:
        """Take in the nursery's messages until it is gone."""
        assert self._process.stdout is not None
        async for line in self._process.stdout:
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
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.reliability.chaos.nursery"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,  # a Ctrl-C is for the run alone
    )
    nursery = Nursery(process)
    listening = asyncio.create_task(nursery.listen())
    try:
        yield nursery
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()
        await listening
