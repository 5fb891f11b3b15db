"""Takes transactions that had to wait for a dependency through the same calculation again."""

from typing import Final

from abacus.bootstrap import Run, Service, Wiring
from abacus.intake.earning.retrier import Retrier
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.sqs.consumer import QueueConsumer
from abacus.platform.sqs.definition import RETRY

NEEDS: Final = frozenset({Service.DATABASE, Service.SQS})


async def wire(wiring: Wiring) -> Run:
    pool = await wiring.pool(size=4)
    client = await wiring.sqs()
    retrier = Retrier(await wiring.issuing(pool, client), QuarantineStore(pool, wiring.clock))
    return QueueConsumer(await wiring.queue(client, RETRY), retrier.handle, wiring.health).run
