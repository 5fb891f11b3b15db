"""The services of `make services` for those that need them: started when they do not run, left as they were found."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple
from urllib.parse import urlsplit

from abacus.core.errors import Unavailable
from localstack.services import HOME, SERVICES


class Services(NamedTuple):
    """Where they listen."""

    database_url: str
    sqs_endpoint_url: str
    kafka_bootstrap: str

    def database(self, name: str) -> str:
        return urlsplit(self.database_url)._replace(path=f"/{name}").geturl()


@asynccontextmanager
async def running_services() -> AsyncIterator[Services]:
    """Raises `Unavailable` when they cannot be started; what `make services` says of that is on standard error."""
    were_there = {service.daemon.name for service in SERVICES if service.daemon.process() is not None}
    try:
        if len(were_there) < len(SERVICES):
            await asyncio.to_thread(_command, "start")
        yield addresses((HOME / "env").read_text(encoding="utf-8"))
    finally:
        if not were_there:
            await asyncio.to_thread(_command, "stop")


def addresses(exports: str) -> Services:
    """As `make services` wrote them, to be sourced by a shell."""
    told = dict(word.partition("=")[::2] for word in exports.split() if "=" in word)
    return Services(*(told[f"ABACUS_{name.upper()}"] for name in Services._fields))


def _command(command: str) -> None:
    outcome = subprocess.run(  # noqa: S603  # our own
        [sys.executable, "-m", "localstack", command], stdout=subprocess.DEVNULL, check=False
    )
    if outcome.returncode:
        raise Unavailable("make services", f"{command} ended with code {outcome.returncode}")
