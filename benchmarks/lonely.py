"""The API with an award intake that gathers nothing, in a process of its own: what coalescing is compared with."""

import asyncio

import uvloop

from abacus.bootstrap import Run, Wiring
from abacus.intake.partners.award_intake import AwardIntake
from abacus.platform.health import Health
from abacus.platform.settings import read_settings
from abacus.process import run_workers, stopped_by_signals
from workers.api import wire_with


async def wire(wiring: Wiring) -> Run:
    return await wire_with(
        wiring, lambda queue, retries, register: AwardIntake(queue, retries, register, gather_s=0, most_together=1)
    )


async def main() -> None:
    stop = asyncio.Event()
    with stopped_by_signals(stop):
        await run_workers({"api": wire}, read_settings(), Health(["api"]), stop, health_port=None)


if __name__ == "__main__":
    uvloop.run(main())
