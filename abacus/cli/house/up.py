"""`abacus up`: everything on this machine, until Ctrl-C."""

import asyncio
from pathlib import Path
from shlex import quote
from typing import Annotated, Final

import typer

from abacus.cli.house.environment_file import check_data_dir, written
from abacus.cli.house.free_ports import on_free_ports
from abacus.cli.house.own_key import key_file
from abacus.cli.house.stack import make_ready, running, services
from abacus.cli.house.start_progress import StartProgress
from abacus.cli.people.console import first_link
from abacus.cli.people.desk import console_url
from abacus.cli.terminal.answer import AsJson, console, print_json
from abacus.cli.terminal.shell import settings
from abacus.platform.migrations import make_sandbox
from abacus.platform.patience import unless_stopped
from abacus.platform.settings import Settings
from abacus.process import stopped_by_signals
from workers import WORKERS, check

DEFAULT_DATA_DIR: Final = Path(".abacus")

DataDir = Annotated[Path, typer.Option(help="Where the embedded Postgres keeps the ledger.")]


async def up(data_dir: DataDir = DEFAULT_DATA_DIR, as_json: AsJson = False) -> None:
    """Start Postgres, SQS and Kafka on loopback (each one only where its setting is unset) and every worker.

    The ledger in the data directory survives a restart; the embedded queues and topics do not.
    """
    config = settings()
    on_free_ports(config)
    check_data_dir(data_dir)
    check(WORKERS, config)
    stop = asyncio.Event()
    with stopped_by_signals(stop):
        await unless_stopped(_house(config, data_dir, as_json=as_json), stop)


async def _house(config: Settings, data_dir: Path, *, as_json: bool) -> None:
    """Run everything until it is cancelled, or a worker fails."""
    starting = StartProgress()
    async with services(config, data_dir, starting) as complete:
        starting.tell("preparing the schema, the queues and the rate cards")
        published = await make_ready(complete, is_ours=config.database_url is None)
        await make_sandbox(complete.required("database_url"))
        if published:
            starting.tell(f"published the example rate cards {', '.join(published)}")
        with_ports = on_free_ports(complete)
        async with running(WORKERS, with_ports, starting, health_port=with_ports.health_port) as workers:
            # A key of one's own is in the environment already.
            key = key_file(data_dir) if config.secrets_key is None and complete.secrets_key is not None else None
            with written(data_dir, with_ports, key) as environment:
                link = await first_link(with_ports)
                _announce(with_ports, environment, link, as_json=as_json)
                await asyncio.wait((workers,))


def _announce(config: Settings, environment: Path, link: str | None, *, as_json: bool) -> None:
    addresses = {
        "api": f"http://{config.api_host}:{config.api_port}",
        "counts": f"http://{config.counts_host}:{config.counts_port}",
        "offers": f"http://{config.offers_host}:{config.offers_port}",
        "places": f"http://{config.places_host}:{config.places_port}",
        "console": link or console_url(config),
        "health": f"http://{config.api_host}:{config.health_port}",
        "kafka": config.kafka_bootstrap,
        "sqs": config.sqs_endpoint_url,
        "database": config.database_url,
    }
    if as_json:
        print_json(addresses)
        return
    for name, address in addresses.items():
        console.print(f"{name:>9}  {address}")
    console.print(
        f"ready; Ctrl-C stops. To use the other commands, in another terminal:\n  source {quote(str(environment))}"
    )
