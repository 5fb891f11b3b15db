"""The services of `make services`, restarted by faults."""

import asyncio
import contextlib
import signal
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import asyncpg

from abacus.core.errors import Unavailable
from localstack.daemon import Daemon
from localstack.services import SERVICES

_STARTED_WITHIN_S: Final = 120.0
_ENDED_WITHIN_S: Final = 40.0
_LOOK_EVERY_S: Final = 0.1


def daemon(name: str) -> Daemon:
    return next(service.daemon for service in SERVICES if service.daemon.name == name)


class Restart(NamedTuple):
    """Everything that is needed to start a daemon again as it ran."""

    daemon: Daemon
    command: Sequence[str]
    environment: Mapping[str, str]
    user: int
    group: int

    @classmethod
    def of(cls, running: Daemon) -> "Restart":
        process = running.process()
        if process is None:
            raise Unavailable(running.name, "it does not run")
        return cls(running, process.cmdline(), process.environ(), process.uids().real, process.gids().real)

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
        self.daemon.start(self.command, environment=self.environment, user=self.user, group=self.group)


async def postgres_answers(database_url: str) -> None:
    """Returns when the service answers."""
    async with asyncio.timeout(_STARTED_WITHIN_S):
        while True:
            with contextlib.suppress(OSError, asyncpg.PostgresError, TimeoutError):
                connection = await asyncpg.connect(database_url, timeout=5)
                await connection.close()
                return
            await asyncio.sleep(_LOOK_EVERY_S)
