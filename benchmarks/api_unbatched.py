"""The API in a process of its own, with an intake that sends each award by itself: gathering is compared with it."""

import asyncio
from functools import partial
from typing import Final

import uvloop

from abacus.intake.partners import wiring
from abacus.intake.partners.award_intake import AwardIntake
from abacus.platform.health import Health
from abacus.platform.settings import read_settings
from abacus.process import run_workers, stopped_by_signals
from workers import api

REPLACED: Final = AwardIntake.__name__  # in the module that builds it


async def main() -> None:
    # Production has no other way to build the intake, and needs none.
    vars(wiring)[REPLACED] = partial(AwardIntake, gather_s=0, most_together=1)
    stop = asyncio.Event()
    with stopped_by_signals(stop):
        await run_workers({"api": api.wire}, read_settings(), Health(["api"]), stop, health_port=None)


if __name__ == "__main__":
    uvloop.run(main())
