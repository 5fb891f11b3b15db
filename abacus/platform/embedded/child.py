"""Runs a program of ours in a child process that cannot outlive us."""

import asyncio
import os
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, cast

from abacus.core.errors import Unavailable
from abacus.platform.embedded.lifeline import READY

_TAIL_BYTES = 2_000


class Child:
    """One of this package's modules run as a child process: it prints one ready line, and dies with its parent.

    It is a plain `Popen` waited for in threads, not an asyncio subprocess, so that a stack can be started in one event
    loop and stopped in another. Its session is its own: a Ctrl-C in the terminal does not reach it. What it writes
    goes to `log`; the log of the start before stays beside it as `*.previous`.
    """

    def __init__(
        self,
        name: str,
        module: str,
        arguments: Sequence[str],
        log: Path,
        *,
        start_seconds: float = 30.0,
        stop_seconds: float = 2.0,
    ) -> None:
        self.name = name
        self.log = log
        self._start_seconds = start_seconds
        self._stop_seconds = stop_seconds
        self._command = [sys.executable, "-P", "-m", module, *arguments]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The process id while the child runs, as far as we know."""
        return None if self._process is None or self._process.poll() is not None else self._process.pid

    async def start(self) -> str:
        """Runs the child and returns the address that it announced; a child that announces none in time is ended."""
        process = self._process = self._spawn()
        reading = asyncio.ensure_future(asyncio.to_thread(_ready_line, process, self._start_seconds))
        try:
            line = await asyncio.shield(reading)
        except BaseException:
            await self.stop()
            await asyncio.wait([reading])
            raise
        if line is None:
            ended = process.poll()
            await self.stop()
            why = f"not ready after {self._start_seconds:g} s" if ended is None else f"ended early (exit code {ended})"
            raise Unavailable(f"embedded {self.name}", f"{why}; the end of {self.log}:\n{self._log_tail()}")
        return line

    async def stop(self) -> None:
        """Asks the child to end, and kills it after the grace. Stopping twice, or before a start, does no harm."""
        process, self._process = self._process, None
        if process is None:
            return
        _let_go(process)
        try:
            await asyncio.to_thread(process.wait, self._stop_seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _log_tail(self) -> str:
        with self.log.open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL_BYTES))
            return log.read().decode(errors="replace").strip() or "(nothing)"

    def _spawn(self) -> subprocess.Popen[bytes]:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        if self.log.exists():
            self.log.replace(self.log.with_name(f"{self.log.name}.previous"))
        # The child finds modules where we do, and (with -P) none in the current directory.
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path)}
        with self.log.open("wb") as log:
            return subprocess.Popen(  # noqa: S603  # our own interpreter and module
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment,
                start_new_session=True,
            )


def _let_go(process: subprocess.Popen[bytes]) -> None:
    """Ask it to end, the way it would learn that we are gone."""
    if process.stdin is not None:
        process.stdin.close()


def _ready_line(process: subprocess.Popen[bytes], timeout_seconds: float) -> str | None:
    """The line that the child announced; None if it ended first, or took too long."""
    deadline = time.monotonic() + timeout_seconds
    seen = b""
    with cast("IO[bytes]", process.stdout) as stdout:
        poll = select.poll()
        poll.register(stdout, select.POLLIN)
        while (left := deadline - time.monotonic()) > 0 and poll.poll(left * 1000):
            chunk = os.read(stdout.fileno(), 4096)
            if not chunk:
                with suppress(subprocess.TimeoutExpired):  # the pipe closes a moment before the exit code is there
                    process.wait(left)
                break
            seen += chunk
            for line in seen.decode(errors="replace").splitlines(keepends=True):
                if line.startswith(READY) and line.endswith("\n"):
                    return line.removeprefix(READY).strip()
    return None
