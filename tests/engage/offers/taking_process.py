"""A process that takes offers: `python -m tests.engage.offers.taking_process DATABASE FIRST LAST`."""

import asyncio
import random
import sys

from abacus.core.clock import SystemClock
from abacus.core.errors import Refused
from abacus.engage.limits.types import Bound
from abacus.platform.postgres import open_pool
from tests.engage.offers.taken import Desk, desk, limited, redeeming, releasing, wish

LIMIT = 300
OFFER = limited(overall=Bound(runs=LIMIT), member=Bound(runs=20))
_CALLERS = 32


async def take(taking: Desk, number: int) -> str:
    """One offer is held, and then redeemed or released, by its number: what came of it."""
    now = SystemClock().now()
    try:
        held = await taking.reservations.reserve([wish(number, f"m{number % 40}", OFFER, now)])
        of = held.reservations[0]
        await taking.redemptions.settle(redeeming(of, OFFER) if number % 4 else releasing(of))
    except Refused:
        return "refused"
    return "redeemed" if number % 4 else "released"


async def main(database_url: str, first: int, last: int) -> None:
    pool = await open_pool(database_url, size=6)
    taking = desk(pool, SystemClock(), slot=first % 16)
    numbers = random.Random(first).sample(range(first, last), last - first)

    async def caller(some: list[int]) -> None:
        for number in some:
            said = f"{number} {await take(taking, number)}\n"
            sys.stdout.write(said)
            sys.stdout.flush()

    await asyncio.gather(*(caller(numbers[place::_CALLERS]) for place in range(_CALLERS)))
    await pool.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
