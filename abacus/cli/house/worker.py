"""`abacus worker`: run any set of workers in one process."""

import asyncio
from typing import Annotated

import typer

from abacus.bootstrap import require_addresses
from abacus.cli.terminal.shell import settings
from abacus.core.errors import absent
from abacus.platform.health import Health
from abacus.process import run_workers, stopped_by_signals
from workers import WORKERS, check, needs, wires


async def worker(
    names: Annotated[list[str], typer.Argument(metavar="NAME…", help=f"Any of: {', '.join(WORKERS)}.")],
    health_port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="Serve /healthz, /readyz and /metrics here (or ABACUS_HEALTH_PORT)."),
    ] = None,
) -> None:
    """Run workers until SIGTERM or Ctrl-C. Scale by starting more of them."""
    unknown = sorted(set(names) - set(WORKERS))
    if unknown:
        raise absent("worker", unknown[0], f"there are {', '.join(WORKERS)}")
    given = settings()
    require_addresses(needs(names), given)
    check(names, given)
    stop = asyncio.Event()
    wired = wires(names)
    with stopped_by_signals(stop):
        await run_workers(wired, given, Health(wired), stop, health_port=health_port or given.health_port)
