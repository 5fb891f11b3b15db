"""The servers of a Citus on this machine, ended and started by faults. `ABACUS_CHAOS_CITUS_URL` names the coordinator;
nobody else may use it meanwhile.
"""

import asyncio
import os
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple, Self
from urllib.parse import urlsplit

import psutil

from abacus.platform.cluster.placement import placement_at
from benchmarks.workbench import listening
from tests.reliability.chaos.needs import CannotBeHad
from tests.reliability.chaos.services import postgres_answers

VARIABLE: Final = "ABACUS_CHAOS_CITUS_URL"
SLICES: Final = 8
_ENDED_WITHIN_S: Final = 40.0
_LOOK_EVERY_S: Final = 0.1


def coordinator_url() -> str:
    """Raises `CannotBeHad`."""
    url = os.environ.get(VARIABLE)
    if not url:
        raise CannotBeHad(f"{VARIABLE} names no coordinator of a Citus")
    return url


class Server(NamedTuple):
    """A server, the address of the run's database on it, and what is needed to start it again as it ran."""

    database_url: str
    port: int
    command: Sequence[str]
    environment: Mapping[str, str]
    directory: str
    user: int
    group: int

    @classmethod
    def of(cls, database_url: str, port: int) -> Self:
        process = listening()[port]
        uid, gid = process.uids().real, process.gids().real
        return cls(database_url, port, process.cmdline(), process.environ(), process.cwd(), uid, gid)

    async def crash(self) -> None:
        """It is gone when this returns, with all its processes: one that is left would keep it from starting again."""
        postmaster = listening()[self.port]
        postmaster.suspend()  # it starts no more of them
        processes = [postmaster, *postmaster.children()]
        _each(processes, psutil.Process.kill)
        async with asyncio.timeout(_ENDED_WITHIN_S):
            while any(map(_runs, processes)):  # noqa: ASYNC110  # other processes
                await asyncio.sleep(_LOOK_EVERY_S)
        await asyncio.to_thread(_unlock, Path(self.directory, "postmaster.pid"))

    def silence(self) -> None:
        """It keeps its connections, takes new ones, and says nothing."""
        postmaster = listening()[self.port]
        postmaster.suspend()
        _each(postmaster.children(), psutil.Process.suspend)

    def speak(self) -> None:
        postmaster = listening()[self.port]
        _each([*postmaster.children(), postmaster], psutil.Process.resume)

    async def start(self) -> None:
        """It answers when this returns."""
        await asyncio.create_subprocess_exec(
            *self.command,
            cwd=self.directory,
            env=dict(self.environment),
            user=self.user,
            group=self.group,
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        await postgres_answers(self.database_url)


def _each(processes: Iterable[psutil.Process], do: Callable[[psutil.Process], None]) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):  # it ended just now
            do(process)


def _unlock(lock: Path) -> None:
    """A postmaster that is dead, and that nobody has reaped, would be taken for one that runs: its folder's lock, and
    that of its socket, which the former names after port and folder.
    """
    *_, port, sockets = lock.read_text(encoding="utf-8").splitlines()[:5]
    Path(sockets, f".s.PGSQL.{port}.lock").unlink(missing_ok=True)
    lock.unlink()


def _runs(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def servers_of(database_url: str) -> list[Server]:
    """The coordinator, and those that have slices of this database."""
    async with placement_at(database_url) as slices:
        addresses = await slices.servers()
    parts = urlsplit(database_url)
    coordinator = Server.of(database_url, parts.port or 5432)
    login, at, _ = parts.netloc.rpartition("@")
    return [coordinator] + [
        Server.of(parts._replace(netloc=f"{login}{at}{each}").geturl(), each.port) for each in addresses
    ]
