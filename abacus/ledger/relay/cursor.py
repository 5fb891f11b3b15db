"""How far the ledger is published on a topic, and publishing again from an earlier position.

Each slice has its own cursor and its own order; a ledger that is not cut has one.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.errors import Refused
from abacus.ledger.types.transfer import Transfer
from abacus.platform.following.cursor import BY_TRANSACTION, Cursor, Walk, by_place
from abacus.platform.postgres import Also, Connection, Pool, nothing_else, passing_failures
from abacus.platform.slices import slices_of
from abacus.platform.sql import Statement

_BATCH: Final = 2000


class Position(NamedTuple):
    """The last transfer that was published."""

    xid: str
    member_id: str
    program: str
    seq: int


START: Final = Position("0", "", "", 0)


class _Posted(NamedTuple):
    """The part of a transfer that tells where it stands, and since when."""

    posted_at: datetime
    member_id: str
    program: str
    seq: int


class SliceStream:
    """The transfers of a slice in the order of publishing, and how far it is published on the topic; of the whole
    ledger, where it is not cut.
    """

    def __init__(self, topic: str, schema: str | None) -> None:
        prefix = f"{schema}." if schema else ""
        transfers = f"{prefix}transfer"
        self.cursor: Cursor[Position] = Cursor(f"{prefix}relay_cursor", "topic", topic, START)
        order = by_place(transfers) if schema else BY_TRANSACTION
        self.transfers = Walk(transfers, Transfer, START, batch=_BATCH, order=order)
        self.first = Walk(transfers, _Posted, START, batch=1, order=order)
        self.first_since = Statement(f"select min(xid)::text from {transfers} where posted_at >= :posted_from")


class RelayCursor:
    """The relays' positions, for the operator. Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, topic: str, clock: Clock) -> None:
        self._pool = pool
        self._topic = topic
        self._clock = clock

    async def positions(self) -> list[Position]:
        """The position of each slice, in their order; one, where the ledger is not cut. All transfers up to it are
        published.
        """
        async with self._lines() as (connection, lines):
            return [await self._at(connection, line) for line in lines]

    async def waiting(self, most: int | None = None) -> int:
        """How many transfers are not published yet; counted to `most` in each slice."""
        async with self._lines() as (connection, lines):
            counts = [
                await line.transfers.waiting(connection, await self._at(connection, line), most) for line in lines
            ]
        return sum(counts)

    async def waiting_since(self) -> datetime | None:
        """When the first row was posted that can be published."""
        since: list[datetime] = []
        async with self._lines() as (connection, lines):
            for line in lines:
                first = await line.first.next(connection, await self._at(connection, line))
                since += [row.posted_at for row in first.rows] if first else []
        return min(since, default=None)

    async def rewind(self, posted_from: datetime | None, *, also: Also = nothing_else) -> None:
        """Publish again the transfers posted from that time on, or all.

        Raises `Refused` when nothing was posted since.
        """
        now, is_rewound = self._clock.now(), False
        async with self._lines() as (connection, lines), connection.transaction():
            for line in lines:
                target = START
                if posted_from is not None:
                    xid = await connection.fetchval(*line.first_since(posted_from=posted_from))
                    if xid is None:
                        continue
                    target = START._replace(xid=xid)
                await line.cursor.put(connection, target, now)
                is_rewound = True
            if posted_from is not None and not is_rewound:
                raise Refused(f"nothing was posted since {posted_from.isoformat()}; the cursor stays where it is")
            await also(connection)

    async def _at(self, connection: Connection, line: SliceStream) -> Position:
        return await line.cursor.position(connection, self._clock.now())

    @asynccontextmanager
    async def _lines(self) -> AsyncIterator[tuple[Connection, list[SliceStream]]]:
        lines = [SliceStream(self._topic, each.schema) for each in await slices_of(self._pool)]
        async with passing_failures(), self._pool.acquire() as connection:
            yield connection, lines
