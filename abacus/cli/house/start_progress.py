"""Tells, line by line on standard error, what `abacus up` and `abacus demo` start and wait for."""

import asyncio
import time
from collections.abc import Collection
from typing import Final
from urllib.parse import urlsplit

from abacus.bootstrap import Service
from abacus.cli.terminal.answer import errors
from abacus.platform.health import Health, WorkerState
from abacus.platform.settings import PREFIX, Settings

_TELL_EVERY_S: Final = 5.0
_NAMES: Final = {Service.DATABASE: "Postgres", Service.SQS: "SQS", Service.KAFKA: "Kafka"}


class StartProgress:
    """The lines of one start. A quiet one tells nothing."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._began = time.monotonic()

    def others(self, settings: Settings, missing: Collection[Service]) -> None:
        """The services that are not started here, because a setting names them."""
        for service, name in _NAMES.items():
            if service not in missing:
                address = str(getattr(settings, service))
                self.tell(f"using {name} at {_without_password(address)}, as {PREFIX}{service.upper()} says")

    def part(self, name: str, *, ready: bool) -> None:
        """A part of the embedded stack begins to start, or can be used."""
        self.tell(f"{name} is ready" if ready else f"starting {name}")

    async def workers(self, running: "asyncio.Task[None]", health: Health) -> None:
        """Returns when all workers are ready, or the task has ended. Says every few seconds which ones are not."""
        self.tell(f"starting the workers {', '.join(health.workers)}")
        tell_at = time.monotonic() + _TELL_EVERY_S
        while not running.done() and not health.ready:
            await asyncio.sleep(0.05)
            if time.monotonic() >= tell_at:
                self.tell(f"waiting for {_not_ready(health)}")
                tell_at += _TELL_EVERY_S

    def tell(self, line: str) -> None:
        if not self._quiet:
            errors.print(f"{time.monotonic() - self._began:6.1f} s  {line}")


def _not_ready(health: Health) -> str:
    waiting = [worker for worker in health.workers.values() if worker.state is not WorkerState.READY]
    return ", ".join(f"{each.name} ({each.detail or each.state})" for each in waiting)


def _without_password(address: str) -> str:
    return urlsplit(address).netloc.rpartition("@")[2] if "://" in address else address
