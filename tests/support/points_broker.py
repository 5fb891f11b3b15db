"""A broker that keeps the events of the points stream, and a relay that runs until nothing is left."""

from collections.abc import Sequence

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.ledger.relay.publish_transfers import transfer_relay
from abacus.ledger.types.point_event import PointEvent
from abacus.platform.following.row_publisher import Publisher
from abacus.platform.following.together import together
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.publisher import StreamMessage
from abacus.platform.postgres import Connection, Pool
from abacus.platform.slices import SliceMap
from tests.support.neighbours import neighbours_are_through
from tests.support.slices import SLICES
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


class Relays:
    """The relay of each slice; where the ledger is not cut, its only one."""

    def __init__(self, pool: Pool, publisher: Publisher, clock: Clock) -> None:
        slice_map, health = SliceMap(SLICES), WorkerHealth("relay")
        self._relays = [
            transfer_relay(pool, publisher, TOPIC, clock, health, schema=slice_map.schema_of(number))
            for number in range(slice_map.slices)
        ]
        self.run = together(*(each.run for each in self._relays))

    async def step(self, connection: Connection) -> int:
        return sum([await each.step(connection) for each in self._relays])


async def publish_all(relay: Relays, pool: Pool) -> int:
    await neighbours_are_through(pool)
    return await all_steps(pool, relay)
