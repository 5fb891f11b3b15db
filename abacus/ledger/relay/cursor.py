"""How far the ledger is published on a topic, and publishing again from an earlier position."""

from datetime import datetime
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.errors import Refused
from abacus.ledger.types.transfer import Transfer
from abacus.platform.following.cursor import Cursor, Walk
from abacus.platform.postgres import Also, Pool, nothing_else, passing_failures
from abacus.platform.sql import Statement

_BATCH: Final = 2000

_FIRST_SINCE: Final = Statement("select min(xid)::text from transfer where posted_at >= :posted_from")


class Position(NamedTuple):
    """The last transfer that was published."""

    xid: str
    member_id: str
    program: str
    seq: int


START: Final = Position("0", "", "", 0)

TRANSFERS: Final = Walk("transfer", Transfer, START, batch=_BATCH)


def cursor_of(topic: str) -> Cursor[Position]:
    return Cursor("relay_cursor", "topic", topic, START)


class RelayCursor:
    """The relay's position, for the operator. Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, topic: str, clock: Clock) -> None:
        self._pool = pool
        self._cursor = cursor_of(topic)
        self._clock = clock

    async def position(self) -> Position:
        async with passing_failures(), self._pool.acquire() as connection:
            return await self._cursor.position(connection, self._clock.now())

    async def waiting(self, most: int | None = None) -> int:
        """How many transfers are not published yet; counted to `most`."""
        async with passing_failures(), self._pool.acquire() as connection:
            position = await self._cursor.position(connection, self._clock.now())
            return await TRANSFERS.waiting(connection, position, most)

    async def rewind(self, posted_from: datetime | None, *, also: Also = nothing_else) -> Position:
        """Publish again the transfers posted from that time on, or all.

        Raises `Refused` when nothing was posted since.
        """
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            target = START
            if posted_from is not None:
                xid = await connection.fetchval(*_FIRST_SINCE(posted_from=posted_from))
                if xid is None:
                    raise Refused(f"nothing was posted since {posted_from.isoformat()}; the cursor stays where it is")
                target = START._replace(xid=xid)
            await self._cursor.put(connection, target, self._clock.now())
            await also(connection)
        return target
