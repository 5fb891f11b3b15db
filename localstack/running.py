"""Starts the services of `make services` for a block if none of them runs, and stops them again after it."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple
from urllib.parse import urlsplit

from abacus.core.errors import Unavailable
from localstack.services import ALWAYS, HOME, SERVICES


class Services(NamedTuple):
    """The addresses of the services."""

    database_url: str
    sqs_endpoint_url: str
    kafka_bootstrap: str

    def database(self, name: str) -> str:
        return urlsplit(self.database_url)._replace(path=f"/{name}").geturl()


@asynccontextmanager
async def running_services() -> AsyncIterator[Services]:
    """Raises `Unavailable` when they cannot be started; the output of `make services` is on standard error. Optional
    services are left as they are.
    """
    were_there = {service.daemon.name for service in SERVICES if service.daemon.process() is not None}
    try:
        if any(service.daemon.name not in were_there for service in ALWAYS):
            await asyncio.to_thread(_command, "start")
        yield addresses((HOME / "env").read_text(encoding="utf-8"))
    finally:
        if not were_there:
            await asyncio.to_thread(_command, "stop")


def addresses(exports: str) -> Services:
    """Reads the addresses that `make services` wrote for a shell."""
    told = dict(word.partition("=")[::2] for word in exports.split() if "=" in word)
    return Services(*(told[f"ABACUS_{name.upper()}"] for name in Services._fields))


def _command(command: str) -> None:
    outcome = subprocess.run(  # noqa: S603  # our own
        [sys.executable, "-m", "localstack", command], stdout=subprocess.DEVNULL, check=False
    )
    if outcome.returncode:
        raise Unavailable("make services", f"{command} ended with code {outcome.returncode}")
