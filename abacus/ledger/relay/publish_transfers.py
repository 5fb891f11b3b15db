"""Publishing transfers as point events, in the order of the transactions that wrote them."""

from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.ledger.metrics import PUBLISHED, RELAY_BEHIND
from abacus.ledger.relay.cursor import Position, SliceStream
from abacus.ledger.types.point_event import encode_event
from abacus.ledger.types.transfer import Transfer
from abacus.platform.following.leader import Leader
from abacus.platform.following.lease import beside, still_held
from abacus.platform.following.lease_share import Share
from abacus.platform.following.row_publisher import Batch, Meter, Publisher, RowPublisher
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.publisher import CLOUD_EVENT, StreamMessage
from abacus.platform.postgres import Connection, Pool

IDLE_S: Final = 0.1
_ENOUGH: Final = 500  # of a slice: a batch costs a relay as much as a hundred transfers, and a process has many relays


class Moved(NamedTuple):
    """The position that a batch was read from, and the position that it reaches."""

    before: Position
    after: Position


class Transfers:
    """The transfers behind the cursor of a topic, which moves when they are published. They are read at the server of
    their slice. The lease is a session's at the coordinator: a relay that has lost it publishes nothing more.
    """

    def __init__(self, pool: Pool, topic: str, schema: str | None, clock: Clock) -> None:
        self._pool = pool
        self._schema = schema
        self._line = SliceStream(topic, schema)
        self._clock = clock

    async def next(self, connection: Connection) -> Batch[Moved] | None:
        # As of one moment: an erasure moves the cursor and renames the transfers behind it.
        async with beside(self._pool, self._schema, connection) as near, near.transaction(isolation="repeatable_read"):
            position = await self._line.cursor.position(near, self._clock.now())
            next_rows = await self._line.transfers.next(near, position)
        if next_rows is None:
            return None
        if near is not connection:
            await still_held(connection)
        messages = [message_of(transfer) for transfer in next_rows.rows]
        return Batch(messages, next_rows.rows[0].posted_at, Moved(position, next_rows.reached))

    async def published(self, connection: Connection, mark: Moved) -> None:
        await self._line.cursor.move(connection, mark.before, mark.after, self._clock.now())


def message_of(transfer: Transfer) -> StreamMessage:
    return StreamMessage(transfer.member_id.encode(), encode_event(transfer), CLOUD_EVENT)


def transfer_relay(
    pool: Pool,
    publisher: Publisher,
    topic: str,
    clock: Clock,
    health: WorkerHealth,
    *,
    schema: str | None = None,
    share: Share | None = None,
) -> Leader:
    """Publishes transfers on one topic: of a slice, or of the whole ledger where it is not cut. Of several relays of
    the same transfers one works, the others stand by.
    """
    behind = Meter(PUBLISHED, RELAY_BEHIND.labels(schema or "whole"))
    publishing = RowPublisher(Transfers(pool, topic, schema, clock), publisher, topic, clock, behind)
    enough = 1 if schema is None else _ENOUGH
    return publishing.led(pool, lease_of(topic, schema), health, idle_s=IDLE_S, enough=enough, share=share)


def lease_of(topic: str, schema: str | None = None) -> str:
    return f"abacus relay {topic}" + (f" {schema}" if schema else "")
