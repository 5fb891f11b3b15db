"""Takes from members what lapsed with a month's end, and lets go of holds whose time is over."""

from typing import Final

from abacus.bootstrap import Run, Wiring
from abacus.expiry.expirer import Expirer
from abacus.ledger.holds import HoldKeeper
from abacus.ledger.move import PostgresMoves
from abacus.ledger.rows import POSTING_PLANS
from abacus.quarantine.store import QuarantineStore
from abacus.queues.consumer import QueueConsumer
from abacus.queues.definition import EXPIRY

HANDS: Final = 2  # while one waits for Postgres, the other decodes and computes


async def wire(wiring: Wiring) -> Run:
    pool = await wiring.pool(size=HANDS + 2, settings=POSTING_PLANS, keeps_nothing=True)
    expirer = Expirer(pool, QuarantineStore(pool, wiring.clock), wiring.clock)
    holds = HoldKeeper(pool, PostgresMoves(pool, wiring.clock), wiring.clock)
    wiring.beside(holds.keep_releasing())
    queue = await wiring.queue(await wiring.sqs(), EXPIRY)
    return QueueConsumer(queue, expirer.handle, wiring.health, hands=HANDS).run
