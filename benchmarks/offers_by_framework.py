"""The offers in a process of their own, with every route served by the framework: hot routes are compared with it."""

import asyncio
from typing import Final

import uvloop

from abacus.api.offers import routes
from abacus.platform.health import Health
from abacus.platform.settings import read_settings
from abacus.process import run_workers, stopped_by_signals
from workers import offers

REPLACED: Final = "HOT"  # in the module with the routes


async def main() -> None:
    # Production has no other way to serve the routes, and needs none.
    vars(routes)[REPLACED] = {}
    stop = asyncio.Event()
    with stopped_by_signals(stop):
        await run_workers({"offers": offers.wire}, read_settings(), Health(["offers"]), stop, health_port=None)


if __name__ == "__main__":
    uvloop.run(main())
