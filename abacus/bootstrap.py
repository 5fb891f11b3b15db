"""Runs workers: each gets what it is wired from, and all of that is closed when it ends."""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from contextlib import AsyncExitStack
from enum import StrEnum

from abacus.core.clock import Clock
from abacus.platform.announcements import Announcements
from abacus.platform.health import Health
from abacus.platform.patience import unless_stopped
from abacus.platform.postgres import open_connection
from abacus.platform.settings import Settings
from abacus.platform.wiring import Run, Wiring

Wire = Callable[[Wiring], Awaitable[Run]]


class Service(StrEnum):
    """A service that a worker needs; the value is the field of the settings with its address."""

    DATABASE = "database_url"
    KAFKA = "kafka_bootstrap"
    SQS = "sqs_endpoint_url"


def require_addresses(services: Collection[Service], settings: Settings) -> None:
    """Raises `Refused` with the name of the first setting that is missing. For SQS no address means AWS."""
    if Service.DATABASE in services:
        settings.required("database_url")
    if Service.KAFKA in services:
        settings.required("kafka_bootstrap")


def announcements_of(settings: Settings) -> Announcements:
    """The announcements of the database, for all workers of a process. A worker that listens has a database."""
    return Announcements(lambda: open_connection(settings.required("database_url")))


async def run_worker(
    name: str,
    wire: Wire,
    settings: Settings,
    health: Health,
    stop: asyncio.Event,
    *,
    announcements: Announcements,
    clock: Clock | None = None,
) -> None:
    """Wires a worker and runs it until `stop` is set. Waits for services that are down. The time is the database's,
    unless a clock is given.
    """
    try:
        async with asyncio.TaskGroup() as group, AsyncExitStack() as stack:
            wiring = Wiring(settings, stack, group, health=health, name=name, announcements=announcements, clock=clock)
            run = await unless_stopped(wire(wiring), stop)
            if run is not None:
                await run(stop)
    except ExceptionGroup as failures:
        raise _first(failures) from None


def _first(failures: ExceptionGroup[Exception]) -> Exception:
    """The failure that ended the others."""
    first = failures.exceptions[0]
    return _first(first) if isinstance(first, ExceptionGroup) else first
