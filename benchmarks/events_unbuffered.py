"""The API in a process of its own, with a desk that publishes each event by itself: gathering is compared with it."""

import asyncio
from functools import partial
from typing import Final

import uvloop

from abacus.platform.health import Health
from abacus.platform.settings import read_settings
from abacus.process import run_workers, stopped_by_signals
from abacus.signals.events import wiring
from abacus.signals.events.event_desk import CountedEventDesk
from workers import api

REPLACED: Final = CountedEventDesk.__name__  # in the module that builds it


async def main() -> None:
    # Production has no other way to build the desk, and needs none.
    vars(wiring)[REPLACED] = partial(CountedEventDesk, gather_s=0, most_together=1)
    stop = asyncio.Event()
    with stopped_by_signals(stop):
        await run_workers({"api": api.wire}, read_settings(), Health(["api"]), stop, health_port=None)


if __name__ == "__main__":
    uvloop.run(main())
