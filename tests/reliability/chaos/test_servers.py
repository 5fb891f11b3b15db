"""A server that is started again runs as it ran, and a worker that cannot begin ends the run."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from abacus.core.errors import Refused
from tests.reliability.chaos.crew import Crew
from tests.reliability.chaos.servers import Server
from tests.support.births import opened_nursery
from tests.support.house import until

_LISTENS = """
import socket, time
listening = socket.create_server(("127.0.0.1", 0))
print(listening.getsockname()[1], flush=True)
time.sleep(60)
"""


@contextmanager
def listener(home: Path) -> Iterator[tuple[int, int]]:
    """The port and the id of a process with that home."""
    command, environment = [sys.executable, "-c", _LISTENS], {**os.environ, "HOME": str(home)}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)  # noqa: S603  # our own
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline()), process.pid
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


async def test_a_server_is_started_again_in_the_environment_that_it_had(tmp_path: Path) -> None:
    with listener(tmp_path) as (port, _):
        server = Server.of("postgresql://nobody@127.0.0.1/nothing", port)
        assert server.environment["HOME"] == str(tmp_path)


async def test_a_silent_server_is_stopped_with_all_its_processes_and_goes_on(tmp_path: Path) -> None:
    with listener(tmp_path) as (port, pid):
        server = Server.of("postgresql://nobody@127.0.0.1/nothing", port)
        server.silence()
        await until(lambda: _is(pid, psutil.STATUS_STOPPED))
        server.speak()
        await until(lambda: _is(pid, psutil.STATUS_SLEEPING))


@pytest.mark.long
async def test_a_worker_that_ends_at_once_is_told_and_not_waited_for(tmp_path: Path) -> None:
    async with opened_nursery() as nursery, Crew(nursery, dict(os.environ), tmp_path) as crew:
        crew.hire("nobody")
        began = time.monotonic()
        with pytest.raises(Refused, match=r"the crew does not begin: nobody ended by itself with 1, saying .*nobody"):
            await crew.ready(within_s=60)
        assert time.monotonic() - began < 50
        await asyncio.sleep(0)


async def _is(pid: int, status: str) -> bool:
    return psutil.Process(pid).status() == status
