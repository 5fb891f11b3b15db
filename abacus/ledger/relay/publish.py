"""The relay: what is posted is published, read out of the ledger itself.

Transfers are read in the order of the transactions that wrote them, and only up to the oldest transaction that is
still open, so one that commits late is never skipped. The cursor moves after the broker has everything.
"""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple, Protocol

from abacus.core.clock import Clock
from abacus.core.errors import Refused, Unavailable
from abacus.ledger.store.read import TRANSFER_COLUMNS
from abacus.ledger.types.point_event import encode_event
from abacus.ledger.types.transfer import Transfer
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.publisher import CLOUD_EVENT, Message
from abacus.platform.metrics import PUBLISHED, RELAY_BEHIND
from abacus.platform.patience import unless_stopped, until_available
from abacus.platform.postgres import Connection, Pool, passing_failures

_BATCH: Final = 2000
_IDLE_S: Final = 0.1
_STANDBY_S: Final = 2.0
_DRAIN_S: Final = 5.0  # what is cut off while it is published is published again

# By the column and not by what is selected: that is a text, in which 1000 comes before 999.
_NEXT: Final = f"""
select {TRANSFER_COLUMNS}, xid::text from transfer
where xid >= $1::text::xid8 and xid < pg_snapshot_xmin(pg_current_snapshot())
    and (xid, member_id, program, seq) > ($1::text::xid8, $2, $3, $4)
order by transfer.xid, member_id, program, seq
limit {_BATCH}
"""

_IS_AHEAD: Final = "select $1::text::xid8 >= pg_snapshot_xmax(pg_current_snapshot())"

# Moves only from where we read: if the cursor was rewound, or another relay moved it, nothing is overwritten.
_MOVE: Final = """
update relay_cursor set xid = $6::text::xid8, member_id = $7, program = $8, seq = $9, moved_at = $10
where topic = $1 and (xid, member_id, program, seq) = ($2::text::xid8, $3, $4, $5)
"""


class Publisher(Protocol):
    """Where events go."""

    async def connect(self) -> None:
        """Returns when there is someone to publish to. Raises `Unavailable`."""
        ...

    async def publish(self, topic: str, messages: Sequence[Message]) -> None:
        """Returns when all are durable. Raises `Unavailable` when some may not be."""
        ...


class Position(NamedTuple):
    """The last transfer that was published. `xid` is text, because it is 64 bits unsigned."""

    xid: str
    member_id: str
    program: str
    seq: int


START: Final = Position("0", "", "", 0)


class Relay:
    """Publishes for one topic. Of several relays one works, the others stand by (an advisory lock decides)."""

    def __init__(self, pool: Pool, publisher: Publisher, topic: str, clock: Clock, health: WorkerHealth) -> None:
        self._pool = pool
        self._publisher = publisher
        self._topic = topic
        self._clock = clock
        self._health = health

    async def run(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            leading = until_available(lambda: self._lead(stop), self._health)
            if await unless_stopped(leading, stop, grace_s=_DRAIN_S) is False:
                await _sleep(_STANDBY_S, stop)

    async def _lead(self, stop: asyncio.Event) -> bool:
        """Publish until told to stop: then True. False when another relay is leading."""
        async with passing_failures(), self._pool.acquire() as connection:
            await self._publisher.connect()
            self._health.ready()
            if not await connection.fetchval(
                "select pg_try_advisory_lock(hashtext('abacus relay ' || $1))", self._topic
            ):
                return False
            try:
                while not stop.is_set():
                    if not await self.publish_next(connection):
                        await _sleep(_IDLE_S, stop)
            finally:
                if not connection.is_closed():
                    await connection.execute("select pg_advisory_unlock(hashtext('abacus relay ' || $1))", self._topic)
        return True

    async def publish_next(self, connection: Connection) -> int:
        """Publish the next transfers and move the cursor. How many there were. Raises `Unavailable`."""
        # As of one moment: an erasure moves the cursor and renames what lies behind it.
        async with connection.transaction(isolation="repeatable_read"):
            position = await _position(connection, self._topic, self._clock.now())
            if await connection.fetchval(_IS_AHEAD, position.xid):
                raise Unavailable(
                    "ledger",
                    f"the cursor stands at transaction {position.xid}, which this server has not reached: was it"
                    " restored from a dump? docs/operate.md, Backups",
                )
            rows = await connection.fetch(_NEXT, *position)
        if not rows:
            RELAY_BEHIND.set(0)
            return 0
        transfers = [Transfer(*row[:-1]) for row in rows]
        RELAY_BEHIND.set((self._clock.now() - transfers[0].posted_at).total_seconds())
        await self._publisher.publish(self._topic, [_message(transfer) for transfer in transfers])
        last = transfers[-1]
        reached = Position(rows[-1]["xid"], last.member_id, last.program, last.seq)
        await connection.execute(_MOVE, self._topic, *position, *reached, self._clock.now())
        PUBLISHED.inc(len(transfers))
        return len(transfers)


class RelayCursor:
    """Where the relay stands, for the operator."""

    def __init__(self, pool: Pool, topic: str, clock: Clock) -> None:
        self._pool = pool
        self._topic = topic
        self._clock = clock

    async def position(self) -> Position:
        async with passing_failures(), self._pool.acquire() as connection:
            return await _position(connection, self._topic, self._clock.now())

    async def waiting(self) -> int:
        """How many transfers are not published yet."""
        async with passing_failures(), self._pool.acquire() as connection:
            position = await _position(connection, self._topic, self._clock.now())
            return int(
                await connection.fetchval(
                    "select count(*) from transfer where xid >= $1::text::xid8"
                    " and (xid, member_id, program, seq) > ($1::text::xid8, $2, $3, $4)",
                    *position,
                )
            )

    async def rewind(self, posted_from: datetime | None) -> Position:
        """Publish again everything posted from that time on, or everything there is.

        Raises `Refused` when nothing was posted since.
        """
        async with passing_failures(), self._pool.acquire() as connection:
            target = START
            if posted_from is not None:
                xid = await connection.fetchval(
                    "select min(xid)::text from transfer where posted_at >= $1", posted_from
                )
                if xid is None:
                    raise Refused(f"nothing was posted since {posted_from.isoformat()}; the cursor stays where it is")
                target = Position(xid, "", "", 0)
            await _position(connection, self._topic, self._clock.now())
            await connection.execute(
                "update relay_cursor set xid = $2::text::xid8, member_id = $3, program = $4, seq = $5, moved_at = $6"
                " where topic = $1",
                self._topic,
                *target,
                self._clock.now(),
            )
        return target


async def _position(connection: Connection, topic: str, now: datetime) -> Position:
    row = await connection.fetchrow(
        "select xid::text, member_id, program, seq from relay_cursor where topic = $1", topic
    )
    if row is not None:
        return Position(*row)
    await connection.execute(
        "insert into relay_cursor (topic, xid, member_id, program, seq, moved_at)"
        " values ($1, $2::text::xid8, $3, $4, $5, $6) on conflict do nothing",
        topic,
        *START,
        now,
    )
    return START


def _message(transfer: Transfer) -> Message:
    return Message(transfer.member_id.encode(), encode_event(transfer), CLOUD_EVENT)


async def _sleep(seconds: float, stop: asyncio.Event) -> None:
    try:
        await asyncio.wait_for(stop.wait(), seconds)
    except TimeoutError:
        return
