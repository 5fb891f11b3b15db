"""The API in a process of its own, with an intake that sends each award by itself: gathering is compared with it."""

import asyncio

import uvloop

from abacus.intake.partners import wiring
from abacus.intake.partners.award_intake import AwardIntake
from abacus.intake.partners.register import Register
from abacus.platform.health import Health
from abacus.platform.settings import read_settings
from abacus.platform.sqs.port import Queue
from abacus.process import run_workers, stopped_by_signals
from workers import api


class Unbatched(AwardIntake):
    """An intake that gathers nothing."""

    def __init__(self, queue: Queue, retry_queue: Queue, register: Register) -> None:
        super().__init__(queue, retry_queue, register, gather_s=0, most_together=1)


async def main() -> None:
    vars(wiring)[AwardIntake.__name__] = Unbatched  # production has no other way to build the intake, and needs none
    stop = asyncio.Event()
    with stopped_by_signals(stop):
        await run_workers({"api": api.wire}, read_settings(), Health(["api"]), stop, health_port=None)


if __name__ == "__main__":
    uvloop.run(main())
