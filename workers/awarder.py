"""Posts the awards of the award queue to the ledger."""

from typing import Final

from abacus.bootstrap import Run, Wiring
from abacus.ledger.awarder import Awarder
from abacus.ledger.move import PostgresMoves
from abacus.ledger.post import PostgresLedger
from abacus.ledger.rows import POSTING_PLANS
from abacus.quarantine.store import QuarantineStore
from abacus.queues.consumer import QueueConsumer
from abacus.queues.definition import AWARD

HANDS: Final = 2  # while one waits for Postgres, the other decodes and computes


async def wire(wiring: Wiring) -> Run:
    pool = await wiring.pool(size=HANDS + 1, settings=POSTING_PLANS, keeps_nothing=True)
    ledger = PostgresLedger(pool, wiring.clock)
    moves = PostgresMoves(pool, wiring.clock)
    awarder = Awarder(ledger, moves, QuarantineStore(pool, wiring.clock), wiring.clock)
    queue = await wiring.queue(await wiring.sqs(), AWARD)
    return QueueConsumer(queue, awarder.handle, wiring.health, hands=HANDS).run
