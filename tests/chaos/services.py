"""The services of `make services`: started when they do not run, left as they were found, and restarted by faults."""

import asyncio
import contextlib
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import asyncpg

from abacus.core.errors import Unavailable
from localstack.daemon import Daemon
from localstack.services import HOME, SERVICES

_STARTED_WITHIN_S: Final = 120.0
_ENDED_WITHIN_S: Final = 40.0
_LOOK_EVERY_S: Final = 0.1


class Services(NamedTuple):
    """Where they listen."""

    database_url: str
    sqs_endpoint_url: str
    kafka_bootstrap: str

    def database(self, name: str) -> str:
        return urlsplit(self.database_url)._replace(path=f"/{name}").geturl()


@asynccontextmanager
async def real_services() -> AsyncIterator[Services]:
    """Raises `Unavailable` when they cannot be started; what `make services` says of that is on standard error."""
    were_there = {service.daemon.name for service in SERVICES if service.daemon.process() is not None}
    try:
        if len(were_there) < len(SERVICES):
            await asyncio.to_thread(_localstack, "start")
        yield addresses((HOME / "env").read_text(encoding="utf-8"))
    finally:
        if not were_there:
            await asyncio.to_thread(_localstack, "stop")


def addresses(exports: str) -> Services:
    """As `make services` wrote them, to be sourced by a shell."""
    told = dict(word.partition("=")[::2] for word in exports.split() if "=" in word)
    return Services(*(told[f"ABACUS_{name.upper()}"] for name in Services._fields))


def _localstack(command: str) -> None:
    outcome = subprocess.run(  # noqa: S603  # our own
        [sys.executable, "-m", "localstack", command], stdout=subprocess.DEVNULL, check=False
    )
    if outcome.returncode:
        raise Unavailable("make services", f"{command} ended with code {outcome.returncode}")


def daemon(name: str) -> Daemon:
    return next(service.daemon for service in SERVICES if service.daemon.name == name)


class Restart(NamedTuple):
    """Everything that is needed to start a daemon again as it ran."""

    daemon: Daemon
    command: Sequence[str]
    user: int
    group: int

    @classmethod
    def of(cls, running: Daemon) -> "Restart":
        process = running.process()
        if process is None:
            raise Unavailable(running.name, "it does not run")
        return cls(running, process.cmdline(), process.uids().real, process.gids().real)

    async def end(self, by: signal.Signals) -> None:
        """Send the signal and wait until the process is gone."""
        process = self.daemon.process()
        if process is None:
            return
        process.send_signal(by)
        async with asyncio.timeout(_ENDED_WITHIN_S):
            while self.daemon.process() is not None:  # noqa: ASYNC110  # another process
                await asyncio.sleep(_LOOK_EVERY_S)

    def start(self) -> None:
        self.daemon.start(self.command, user=self.user, group=self.group)


async def postgres_answers(database_url: str) -> None:
    """Returns when it does."""
    async with asyncio.timeout(_STARTED_WITHIN_S):
        while True:
            with contextlib.suppress(OSError, asyncpg.PostgresError, TimeoutError):
                connection = await asyncpg.connect(database_url, timeout=5)
                await connection.close()
                return
            await asyncio.sleep(_LOOK_EVERY_S)
