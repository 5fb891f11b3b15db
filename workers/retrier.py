"""Takes transactions that had to wait for a dependency through the same calculation again."""

from typing import Final

from abacus.bootstrap import Run, Service, Wiring
from abacus.core.vouching import Producer
from abacus.intake.earning.retrier import Retrier
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.sqs.consumer import QueueConsumer
from abacus.platform.sqs.definition import RETRY

NEEDS: Final = frozenset({Service.DATABASE, Service.SQS})


async def wire(wiring: Wiring) -> Run:
    pool = await wiring.pool(size=4)
    client = await wiring.sqs()
    issuing = await wiring.issuing(pool, client, Producer.RETRIER)
    retrier = Retrier(issuing, QuarantineStore(pool, wiring.clock), wiring.verifier())
    return QueueConsumer(await wiring.queue(client, RETRY), retrier.handle, wiring.health).run
