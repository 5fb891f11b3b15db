"""An owner of an embedded stack that can be killed: a process of its own."""

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import IO, Any, cast

import psutil

_OWNER = """
import asyncio, json, sys, time
from pathlib import Path
from abacus.platform.embedded import EmbeddedStack

async def own():
    async with EmbeddedStack(Path(sys.argv[1]), **json.loads(sys.argv[2])) as stack:
        print(json.dumps({"database_url": stack.database_url}), flush=True)
        await asyncio.to_thread(sys.stdin.read)

asyncio.run(own())
"""


class Owner:
    """A process that runs a stack until its stdin is closed, and its descendants."""

    def __init__(self, data_dir: Path, **options: Any) -> None:
        self.process = subprocess.Popen(  # noqa: S603  # our own interpreter
            [sys.executable, "-W", "ignore", "-c", _OWNER, str(data_dir), json.dumps(options)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        said = cast("IO[bytes]", self.process.stdout).readline()
        self.database_url: str = json.loads(said or b'{"database_url": ""}')["database_url"]
        self.descendants = psutil.Process(self.process.pid).children(recursive=True)

    def descendants_running(self, program: str) -> list[psutil.Process]:
        """The descendants whose command line names the program. A session of Postgres may end while they are listed."""
        processes = []
        for each in self.descendants:
            with contextlib.suppress(psutil.NoSuchProcess):
                if program in " ".join(each.cmdline()):
                    processes.append(each)
        return processes

    def kill_descendants(self) -> None:
        for each in self.descendants:
            with contextlib.suppress(psutil.NoSuchProcess):
                each.kill()

    def kill(self) -> None:
        """kill -9, as the kernel would when memory runs out."""
        self.process.kill()
        self.process.wait()

    def leave(self) -> int:
        """Let it stop its stack in order."""
        cast("IO[bytes]", self.process.stdin).close()
        return self.process.wait(30)

    def close(self) -> None:
        """Kill the owner and all its descendants."""
        self.kill()
        psutil.wait_procs(self.descendants, timeout=20)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
