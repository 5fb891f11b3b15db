"""How points and holds whose time is over are put together: one queue, and the releases beside it."""

from typing import Final

from abacus.ledger.store.counted_moves import CountedMoves
from abacus.ledger.store.holds import HoldKeeper
from abacus.ledger.store.moves import PostgresMoves
from abacus.platform.postgres import LOOKUPS_BY_KEY
from abacus.platform.quarantine.counted import CountedQuarantine
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.sqs.consumer import QueueConsumer
from abacus.platform.sqs.definition import EXPIRY
from abacus.platform.wiring import Run, Wiring
from abacus.programs.expiry.expirer import Expirer

HANDS: Final = 2  # while one waits for Postgres, the other decodes and computes


async def expirer(wiring: Wiring) -> Run:
    pool = await wiring.pool(size=HANDS + 2, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
    holds = HoldKeeper(pool, CountedMoves(PostgresMoves(pool, wiring.clock)), wiring.clock)
    wiring.beside(holds.keep_releasing())
    queue = await wiring.queue(await wiring.sqs(), EXPIRY)
    expirer = Expirer(pool, CountedQuarantine(QuarantineStore(pool, wiring.clock)), wiring.clock)
    return QueueConsumer(queue, expirer.handle, wiring.health, hands=HANDS).run
