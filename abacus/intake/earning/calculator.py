"""The calculator: transactions from the stream become awards on the queue."""

import asyncio
from collections.abc import Sequence

from abacus.core.errors import LineStopped, Unavailable
from abacus.intake.earning.decide.breaker import Breaker
from abacus.intake.earning.decide.source_message import SourceMessage
from abacus.intake.earning.issuer import PointsIssuer
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.reader import Record, StreamReader
from abacus.platform.patience import until_available
from abacus.platform.quarantine.types import origin_of


class StreamCalculator:
    """Reads batches, decides them, hands them over, and only then commits their offsets.

    When a dependency goes down, the batch in hand goes to the retry queue, and the next one waits here until the
    dependency answers again: Kafka keeps the rest of the stream better than a queue would.
    """

    def __init__(self, reader: StreamReader, issuer: PointsIssuer, breaker: Breaker, health: WorkerHealth) -> None:
        self._reader = reader
        self._issuer = issuer
        self._breaker = breaker
        self._health = health
        self._down: Unavailable | None = None

    async def run(self, stop: asyncio.Event) -> None:
        try:
            await self._reader.run(self.handle, stop)
        except LineStopped as error:
            self._health.stopped(str(error))
            await stop.wait()

    async def handle(self, records: Sequence[Record]) -> None:
        """Returns when the effect of every record is durable. Raises `LineStopped` before any effect."""
        if self._down is not None:
            self._health.waiting(self._down)
            await until_available(self._issuer.probe, self._health)
            self._health.ready()
        messages = [
            SourceMessage(record.value, origin_of(record.topic, record.partition, record.offset)) for record in records
        ]
        decided = await self._issuer.decide(messages)
        self._breaker.watch(len(messages), len(decided.set_aside))
        self._down = decided.down
        await self._issuer.hand_over(decided)
