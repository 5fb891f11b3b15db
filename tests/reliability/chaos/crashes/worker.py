"""A worker process with crash points, forked from one that has everything imported.

By hand, in the environment of any worker, to die at a point:
`python -m tests.reliability.chaos.crashes.worker NAME POINT`.
"""

import asyncio
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Final

from abacus.bootstrap import Wire
from abacus.cli.terminal.shell import run
from abacus.platform.health import Health
from abacus.platform.logs import configure_logging
from abacus.platform.settings import Settings, read_settings
from abacus.platform.wiring import Run, Wiring
from abacus.process import run_workers, stopped_by_signals
from tests.reliability.chaos.crashes.boundary import watch
from tests.reliability.chaos.crashes.visits import set_watch, wake
from workers import wires

_NAMED: Final = 3


@dataclass(frozen=True)
class Order:
    """The workers that are to run, how, and what they do at crash points: see `visits`."""

    names: tuple[str, ...]
    settings: Settings
    log: Path | None = None
    book: Path | None = None
    fatal: str | None = None
    paces: Mapping[str, float] = field(default_factory=dict)  # "module:NAME", where twenty seconds are too long


def work(order: Order) -> None:
    """Run until SIGTERM, or a crash point."""
    if order.log is not None:
        log = os.open(order.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(log, sys.stdout.fileno())
        os.dup2(log, sys.stderr.fileno())
    configure_logging("console")
    for place, seconds in order.paces.items():
        module, _, name = place.partition(":")
        vars(import_module(module)).update({name: seconds})
    if order.book is not None:
        set_watch(order.book, fatal=order.fatal)
    run(_work(order))


async def _work(order: Order) -> None:
    stop = asyncio.Event()
    wired = {name: _waking(wire) for name, wire in wires(order.names).items()}
    with stopped_by_signals(stop):
        await run_workers(wired, order.settings, Health(wired), stop, health_port=None)


def _waking(wire: Wire) -> Wire:
    async def wire_and_wake(wiring: Wiring) -> Run:
        running = await wire(wiring)
        wake()
        return running

    return wire_and_wake


if __name__ == "__main__":
    if len(sys.argv) != _NAMED:
        sys.exit(__doc__)
    watch()
    work(Order((sys.argv[1],), read_settings(), book=Path(os.devnull), fatal=sys.argv[2]))
