"""The sources of messages: postings from the points stream, rejections from the ledger, in the order of their
transactions. Both are entered before the cursor or the offsets move on, so no message is left out; a message that is
entered twice is kept once.
"""

from collections.abc import Sequence
from functools import partial
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.intake.partners.metrics import WEBHOOKS
from abacus.intake.partners.webhooks.decide.message import MessageType, posted, rejected
from abacus.intake.partners.webhooks.outbox import WebhookOutbox, enter
from abacus.ledger.store.partner_limits import rejection_of
from abacus.ledger.types.limits import Rejection
from abacus.platform.following.cursor import BY_TRANSACTION, Cursor, Walk, by_place
from abacus.platform.following.leader import Leader
from abacus.platform.following.lease import beside
from abacus.platform.following.lease_share import Share
from abacus.platform.following.passing_over import PassedOver
from abacus.platform.following.topic import read_records
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.reader import Record
from abacus.platform.patience import until_available
from abacus.platform.postgres import Connection, Pool

_BATCH: Final = 1000
IDLE_S: Final = 0.2
LEASE: Final = "abacus webhooks rejections"


class Postings:
    """Enters messages about the postings of partners' awards. An unreadable event holds up nothing. Events of slices
    whose servers are away stay behind.
    """

    def __init__(self, pool: Pool, outbox: WebhookOutbox, health: WorkerHealth) -> None:
        self._outbox = outbox
        self._health = health
        self._passed_over = PassedOver(pool)

    async def handle(self, records: Sequence[Record]) -> Sequence[Record]:
        """Returns the records that stay behind. Raises `StartAgain`."""
        await self._passed_over.look()
        messages = read_records(records, posted)
        WEBHOOKS.labels(MessageType.POSTED, "unreadable").inc(messages.unreadable)
        if messages.values:
            entering = partial(self._outbox.enter, messages.values, self._passed_over)
            await until_available(entering, self._health)
        return await self._passed_over.behind(records, posted)


class RejectionPosition(NamedTuple):
    """The last rejection that was entered."""

    xid: str
    key: str


_START: Final = RejectionPosition("0", "")


class Rejections:
    """Enters messages about the rejections of partners' awards: a slice's, read at its server, or all where the ledger
    is not cut. Messages and the cursor lie at the coordinator.
    """

    def __init__(self, pool: Pool, schema: str | None, clock: Clock) -> None:
        table = f"{schema}.rejection" if schema else "rejection"
        order = by_place(table) if schema else BY_TRANSACTION
        self._pool = pool
        self._schema = schema
        self._clock = clock
        self._walk = Walk(table, Rejection, _START, batch=_BATCH, order=order)
        self._cursor = Cursor("webhook_cursor", "source", _named("rejection", schema), _START)

    async def enter_next(self, connection: Connection) -> int:
        """Enters the next messages, and returns how many rejections were read. Raises `Unavailable`."""
        now = self._clock.now()
        async with connection.transaction():
            position = await self._cursor.position(connection, now)
            async with beside(self._pool, self._schema, connection) as near:
                next_rows = await self._walk.next(near, position)
            if next_rows is None:
                return 0
            messages = [rejected(rejection_of(row)) for row in next_rows.rows]
            await enter(self._pool, connection, [message for message in messages if message is not None], now)
            await self._cursor.move(connection, position, next_rows.reached, now)
        return len(next_rows.rows)


def rejections(
    pool: Pool,
    clock: Clock,
    health: WorkerHealth,
    *,
    schema: str | None = None,
    share: Share | None = None,
    idle_s: float = IDLE_S,
) -> Leader:
    """The worker: one of several readers works, the others stand by."""
    step = Rejections(pool, schema, clock).enter_next
    return Leader(pool, _named(LEASE, schema), step, health, idle_s=idle_s, share=share)


def _named(name: str, schema: str | None) -> str:
    return f"{name} {schema}" if schema else name
