"""A process that takes offers by single codes: `python -m tests.engage.offers.code_process DATABASE SEED`."""

import asyncio
import random
import sys

from abacus.core.clock import SystemClock
from abacus.core.errors import Refused
from abacus.engage.offers.decide.offer import Offer
from abacus.engage.offers.decide.single_code import CodeUsed
from abacus.platform.postgres import open_pool
from tests.engage.offers.coded import CODED, Coded, coded, codes, order, paying
from tests.engage.offers.taken import LONG_AGO, TO_COME, lunch

CODES = codes(60)
OFFER: Offer = lunch(audience=CODED.audience, starts_at=LONG_AGO, ends_at=TO_COME)
_CALLERS = 32


async def take(by_code: Coded, caller: int, place: int) -> str:
    """A caller wants each code: most redeem it, some give it back."""
    asked = order(f"{caller}:{place}", CODES[place], member_id=f"m{caller}")
    try:
        (of,) = (await by_code.till.reserve(asked)).reservations
        if (caller + place) % 4 == 0:
            await by_code.till.release(of.reservation_id, of.caller)
            return "released"
        await by_code.till.redeem(paying(of))
    except CodeUsed:
        return "used"
    except Refused:
        return "refused"
    return "redeemed"


async def main(database_url: str, seed: int) -> None:
    pool = await open_pool(database_url, size=6)
    by_code, rng = coded(pool, SystemClock(), OFFER, slot=seed % 16), random.Random(seed)

    async def call(caller: int) -> None:
        for place in rng.sample(range(len(CODES)), len(CODES)):
            sys.stdout.write(f"{caller}:{place} {await take(by_code, caller, place)}\n")
            sys.stdout.flush()

    async def sweep() -> None:
        while True:
            await by_code.sweeper.sweep()
            await asyncio.sleep(0.05)

    sweeping = asyncio.create_task(sweep())
    await asyncio.gather(*map(call, range(_CALLERS)))
    sweeping.cancel()
    await pool.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
