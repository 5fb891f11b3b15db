"""Takes what is over: points that lapsed with a month's end, holds, and rows whose time is over; and notes how tables
grow.
"""

from typing import Final

from abacus.bootstrap import Service
from abacus.oversight.growth.wiring import take_care
from abacus.platform.wiring import Run, Wiring
from abacus.programs.expiry.wiring import expirer

NEEDS: Final = frozenset({Service.DATABASE, Service.SQS})


async def wire(wiring: Wiring) -> Run:
    await take_care(wiring)
    return await expirer(wiring)
