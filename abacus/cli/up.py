"""`abacus up`: everything on this machine, until Ctrl-C."""

import asyncio
import socket
from pathlib import Path
from typing import Annotated, Final

import typer

from abacus.cli.shell import AsJson, console, errors, print_json, run, settings
from abacus.cli.stack import make_ready, running, services
from abacus.platform.patience import unless_stopped
from abacus.platform.settings import Settings
from abacus.process import stopped_by_signals
from workers import WORKERS, check

DEFAULT_DATA_DIR: Final = Path(".abacus")

DataDir = Annotated[Path, typer.Option(help="Where the embedded Postgres keeps the ledger.")]


def up(data_dir: DataDir = DEFAULT_DATA_DIR, as_json: AsJson = False) -> None:
    """Start Postgres, SQS and Kafka on loopback (each one only where its setting is unset) and every worker.

    The ledger in the data directory survives a restart; the embedded queues and topics do not.
    """

    async def main() -> None:
        found = settings()
        check(WORKERS, found)
        stop = asyncio.Event()
        with stopped_by_signals(stop):
            await unless_stopped(_house(found, data_dir, as_json=as_json), stop)

    run(main())


async def _house(found: Settings, data_dir: Path, *, as_json: bool) -> None:
    """Until it is cancelled, or a worker fails."""
    async with services(found, data_dir) as complete:
        published = await make_ready(complete)
        if published and not as_json:
            errors.print(f"published the example rate cards {', '.join(published)}")
        port = _port(complete)
        async with running(WORKERS, complete.model_copy(update={"api_port": port})) as workers:
            _announce(complete, port, as_json=as_json)
            await asyncio.wait((workers,))


def _port(found: Settings) -> int:
    """The API's port; where nobody chose one and the usual one is taken, a free one."""
    chosen = "api_port" in found.model_fields_set and found.api_port != 0
    for port in (found.api_port, 0):
        try:
            with socket.create_server((found.api_host, port)) as free:
                return int(free.getsockname()[1])
        except OSError:
            if chosen:
                break
    return found.api_port


def _announce(found: Settings, port: int, *, as_json: bool) -> None:
    addresses = {
        "api": f"http://{found.api_host}:{port}",
        "kafka": found.kafka_bootstrap,
        "sqs": found.sqs_endpoint_url,
        "database": found.database_url,
    }
    if as_json:
        print_json(addresses)
        return
    for name, address in addresses.items():
        console.print(f"{name:>9}  {address}", highlight=False, soft_wrap=True)
    console.print(
        "ready; Ctrl-C stops. To use the other commands, in another terminal:\n"
        f"  export ABACUS_DATABASE_URL={found.database_url} ABACUS_KAFKA_BOOTSTRAP={found.kafka_bootstrap}"
        f" ABACUS_SQS_ENDPOINT_URL={found.sqs_endpoint_url}",
        highlight=False,
        soft_wrap=True,
    )
