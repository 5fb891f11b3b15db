"""Holds: reading them, and releasing overdue holds."""

import asyncio
from collections.abc import Sequence
from typing import Final
from uuid import UUID

import asyncpg
import structlog

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.core.sources import CLOCK, Agent, source_sql
from abacus.ledger.decide.spend import release_of
from abacus.ledger.types.movement import Because, Hold, HoldStatus, MovesPort
from abacus.ledger.types.port import Status
from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.platform.sql import Statement, columns

_CLOCK: Final = Agent(CLOCK, CLOCK)
_MOST: Final = 200
_LOOK_EVERY_S: Final = 1.0

# A hold belongs to the source of the transfer that placed it; `held_by` is a name.
_PLACED: Final = f"""
select {columns(Hold, "h")} from hold h
join transfer t on t.member_id = h.member_id and t.program = h.program and t.seq = h.placed_seq
where h.member_id = :member_id and (:source::text is null or {source_sql("t")} = :source)
"""
_HOLD: Final = Statement(f"{_PLACED} and h.hold_id = :hold_id")
_OPEN: Final = Statement(f"{_PLACED} and h.status = 'open' order by h.until, h.hold_id")
_OVERDUE: Final = Statement(
    f"select {columns(Hold)} from hold where status = 'open' and until <= :now order by until limit {_MOST}"
)

log = structlog.get_logger(__name__)


class HoldReader:
    """Reads holds: all, or a source's own. Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def hold(self, member_id: str, hold_id: UUID, *, source: str | None = None) -> Hold | None:
        async with slices.at(self._pool, member_id) as connection:
            row = await connection.fetchrow(*_HOLD(member_id=member_id, hold_id=hold_id, source=source))
        return read_hold(row) if row else None

    async def open_holds(self, member_id: str, *, source: str | None = None) -> Sequence[Hold]:
        async with slices.at(self._pool, member_id) as connection:
            rows = await connection.fetch(*_OPEN(member_id=member_id, source=source))
        return [read_hold(row) for row in rows]


class HoldKeeper:
    """Releases holds whose time is over. Several keepers may run at once: each hold is released once."""

    def __init__(self, pool: Pool, moves: MovesPort, clock: Clock) -> None:
        self._pool = pool
        self._moves = moves
        self._clock = clock

    async def keep_releasing(self) -> None:
        """Until cancelled."""
        while True:
            try:
                while await self.release_overdue():
                    pass
            except Unavailable as error:
                log.warning("overdue holds are not released", away=error)
            await asyncio.sleep(_LOOK_EVERY_S)

    async def release_overdue(self) -> int:
        """Release some of the overdue holds; returns how many. Holds of slices whose servers are away are released when
        the servers are back. Raises `Unavailable`.
        """
        rows = await slices.rows_in_reach(self._pool, _OVERDUE(now=self._clock.now()))
        overdue = sorted(rows, key=lambda row: row["until"])[:_MOST]
        releases = [release_of(read_hold(row), _CLOCK, Because.EXPIRED) for row in overdue]
        moved = await self._moves.move(releases) if releases else []
        return sum(each.status is Status.POSTED for each in moved)


def read_hold(row: asyncpg.Record) -> Hold:
    return Hold(*row)._replace(status=HoldStatus(row["status"]))
