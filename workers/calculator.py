"""Reads transactions from the stream, calculates, and puts awards on the award queue."""

from typing import Final

from abacus.bootstrap import Run, Service, Wiring
from abacus.core.vouching import Producer
from abacus.intake.earning.calculator import StreamCalculator
from abacus.intake.earning.decide.breaker import Breaker
from abacus.platform.kafka.reader import StreamReader

NEEDS: Final = frozenset({Service.DATABASE, Service.KAFKA, Service.SQS})


async def wire(wiring: Wiring) -> Run:
    settings = wiring.settings
    bootstrap = settings.required("kafka_bootstrap")
    issuing = await wiring.issuing(await wiring.pool(size=4), await wiring.sqs(), Producer.CALCULATOR)
    group = f"{settings.queue_prefix}calculator"
    reader = StreamReader(bootstrap, settings.transactions_topic, group, wiring.health)
    return StreamCalculator(reader, issuing, Breaker(settings.quarantine_share), wiring.health).run
