"""A worker process with crash points, forked from one that has everything imported.

By hand, in the environment of any worker: `python -m tests.chaos.crashes.worker NAME POINT` dies at that point.
"""

import asyncio
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

if __name__ == "__main__":
    from tests.chaos.crashes import preload  # noqa: F401  # the hook comes before the modules that it changes

from abacus.bootstrap import Run, Wire, Wiring
from abacus.cli.shell import run
from abacus.health import Health
from abacus.logs import configure_logging
from abacus.process import run_workers, stopped_by_signals
from abacus.queues import consumer
from abacus.settings import Settings, read_settings
from tests.chaos.crashes.visits import set_watch, wake
from workers import WORKERS

_NAMED: Final = 3


@dataclass(frozen=True)
class Order:
    """Which workers are to run, how, and what is to be done at their crash points: see `visits`."""

    names: tuple[str, ...]
    settings: Settings
    log: Path | None = None
    book: Path | None = None
    fatal: str | None = None
    keeps_every_s: float | None = None  # a queue's messages, for who cannot wait twenty seconds to see it


def work(order: Order) -> None:
    """Until SIGTERM, or a crash point."""
    if order.log is not None:
        log = os.open(order.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(log, sys.stdout.fileno())
        os.dup2(log, sys.stderr.fileno())
    configure_logging("console")
    if order.keeps_every_s is not None:
        vars(consumer)["_KEEP_EVERY_S"] = order.keeps_every_s
    if order.book is not None:
        set_watch(order.book, fatal=order.fatal)
    run(_work(order))


async def _work(order: Order) -> None:
    stop = asyncio.Event()
    wires = {name: _waking(WORKERS[name]) for name in order.names}
    with stopped_by_signals(stop):
        await run_workers(wires, order.settings, Health(wires), stop, health_port=None)


def _waking(wire: Wire) -> Wire:
    async def wire_and_wake(wiring: Wiring) -> Run:
        running = await wire(wiring)
        wake()
        return running

    return wire_and_wake


if __name__ == "__main__":
    if len(sys.argv) != _NAMED:
        sys.exit(__doc__)
    work(Order((sys.argv[1],), read_settings(), book=Path(os.devnull), fatal=sys.argv[2]))
