"""Where messages come from: postings from the points stream, rejections from the ledger, in the order of their
transactions. Both are entered before the place that is read moves on, so nothing is left out; entering twice is once.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

import structlog

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.intake.partners.webhooks.decide.message import Message, MessageType, Unreadable, posted, rejected
from abacus.intake.partners.webhooks.outbox import Outbox, enter
from abacus.ledger.store.partner_limits import REJECTION_COLUMNS, rejection_of
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.reader import Record
from abacus.platform.metrics import WEBHOOKS
from abacus.platform.patience import unless_stopped, until_available
from abacus.platform.postgres import Connection, Pool, passing_failures

_SOURCE: Final = "rejection"
_BATCH: Final = 1000
_IDLE_S: Final = 0.2
_DRAIN_S: Final = 5.0

_BEGIN: Final = """
insert into webhook_cursor (source, xid, key, moved_at) values ($1, '0', '', $2) on conflict do nothing
"""

# Whoever has this row reads on; the others find nothing to do.
_POSITION: Final = "select xid::text, key from webhook_cursor where source = $1 for update skip locked"

# Only up to the oldest transaction that is still open, so one that commits late is never skipped. In the order of the
# column and not of what is selected: that is a text, in which 1000 comes before 999.
_NEXT: Final = f"""
select {REJECTION_COLUMNS}, xid::text from rejection
where xid >= $1::text::xid8 and xid < pg_snapshot_xmin(pg_current_snapshot()) and (xid, key) > ($1::text::xid8, $2)
order by rejection.xid, key
limit {_BATCH}
"""

_IS_AHEAD: Final = "select $1::text::xid8 >= pg_snapshot_xmax(pg_current_snapshot())"

_MOVE: Final = "update webhook_cursor set xid = $2::text::xid8, key = $3, moved_at = $4 where source = $1"

log = structlog.get_logger(__name__)


class Postings:
    """Enters the events of the points stream that a partner is to be told of. What cannot be read holds up nothing."""

    def __init__(self, outbox: Outbox, health: WorkerHealth) -> None:
        self._outbox = outbox
        self._health = health

    async def handle(self, records: Sequence[Record]) -> None:
        messages = [message for record in records if (message := _read(record)) is not None]
        if messages:
            await until_available(lambda: self._outbox.enter(messages), self._health)


def _read(record: Record) -> Message | None:
    try:
        return posted(record.value)
    except Unreadable as fault:
        WEBHOOKS.labels(MessageType.POSTED, "unreadable").inc()
        where = f"{record.topic}:{record.partition}:{record.offset}"
        log.warning("event skipped", at=where, why=str(fault))
        return None


class Rejections:
    """Enters what partners are to be told of the register of rejections. Of several readers one works at a time."""

    def __init__(self, pool: Pool, clock: Clock, health: WorkerHealth) -> None:
        self._pool = pool
        self._clock = clock
        self._health = health

    async def run(self, stop: asyncio.Event) -> None:
        """Until `stop` is set."""
        await unless_stopped(until_available(self._begin, self._health), stop)
        self._health.ready()
        while not stop.is_set():
            entering = until_available(self.enter_next, self._health)
            if not await unless_stopped(entering, stop, grace_s=_DRAIN_S):
                await unless_stopped(asyncio.sleep(_IDLE_S), stop)

    async def enter_next(self) -> int:
        """How many rejections were read. Raises `Unavailable`."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            return await self._enter_next(connection)

    async def _begin(self) -> None:
        async with passing_failures():
            await self._pool.execute(_BEGIN, _SOURCE, self._clock.now())

    async def _enter_next(self, connection: Connection) -> int:
        position = await connection.fetchrow(_POSITION, _SOURCE)
        if position is None:
            return 0
        if await connection.fetchval(_IS_AHEAD, position["xid"]):
            raise Unavailable(
                "ledger",
                f"rejections are read up to transaction {position['xid']}, which this server has not reached: was it"
                " restored from a dump? docs/operate.md, Backups",
            )
        rows = await connection.fetch(_NEXT, *position)
        if rows:
            now = self._clock.now()
            found = [rejected(rejection_of(row[:-1])) for row in rows]
            await enter(connection, [message for message in found if message is not None], now)
            await connection.execute(_MOVE, _SOURCE, rows[-1]["xid"], rows[-1]["key"], now)
        return len(rows)
