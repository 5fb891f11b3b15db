"""A broker that keeps the events of the points stream, and a relay that runs until nothing is left."""

from collections.abc import Sequence

from abacus.core.errors import Unavailable
from abacus.ledger.types.point_event import PointEvent
from abacus.platform.following.leading import Leading
from abacus.platform.kafka.publisher import StreamMessage
from abacus.platform.postgres import Pool
from tests.support.neighbours import neighbours_are_through
from tests.support.stepping import all_steps

TOPIC = "points"


class Broker:
    """A broker that keeps its messages; it can be down."""

    def __init__(self) -> None:
        self.events: list[PointEvent] = []
        self.down = False

    async def connect(self) -> None:
        if self.down:
            raise Unavailable("Kafka", "down")

    async def publish(self, topic: str, messages: Sequence[StreamMessage]) -> None:
        assert topic == TOPIC
        if self.down:
            raise Unavailable("Kafka", "down")
        self.events += [PointEvent.model_validate_json(message.value) for message in messages]

    @property
    def ids(self) -> list[str]:
        return [event.id for event in self.events]


async def publish_all(relay: Leading, pool: Pool) -> int:
    await neighbours_are_through(pool)
    return await all_steps(pool, relay)
