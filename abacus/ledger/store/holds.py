"""Holds: reading them, and releasing overdue holds."""

import asyncio
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

import structlog

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.core.sources import CLOCK, Agent, source_sql
from abacus.ledger.decide.spend import release_of
from abacus.ledger.types.movement import Because, Hold, HoldStatus, MovesPort
from abacus.ledger.types.port import Status
from abacus.platform import slices
from abacus.platform.gatherer import PendingRequest
from abacus.platform.postgres import Pool
from abacus.platform.sql import Statement, columns

_CLOCK: Final = Agent(CLOCK, CLOCK)
_MOST: Final = 200
_LOOK_EVERY_S: Final = 1.0

# A hold belongs to the source of the transfer that placed it; `held_by` is a name.
_PLACED: Final = "join transfer t on t.member_id = h.member_id and t.program = h.program and t.seq = h.placed_seq"
_OPEN: Final = Statement(f"""
select {columns(Hold, "h")} from hold h {_PLACED}
where h.member_id = :member_id and (:source::text is null or {source_sql("t")} = :source) and h.status = 'open'
order by h.until, h.hold_id
""")
# Captures wait for this: one statement for all of a millisecond.
_NAMED: Final = Statement(f"""
select {columns(Hold, "h")}, {source_sql("t")} as source
from unnest(:members::text[], :ids::uuid[]) as u (member_id, hold_id)
join hold h on h.member_id = u.member_id and h.hold_id = u.hold_id {_PLACED}
""")
_OVERDUE: Final = Statement(
    f"select {columns(Hold)} from hold where status = 'open' and until <= :now order by until limit {_MOST}"
)

log = structlog.get_logger(__name__)


class HoldName(NamedTuple):
    """A hold of a member."""

    member_id: str
    hold_id: UUID


class _Placed(NamedTuple):
    """A hold, and the source that placed it."""

    hold: Hold
    source: str


class HoldReader:
    """Reads holds: all, or a source's own. Every method raises `Unavailable` while the database is away. Holds that are
    named within a millisecond are read by one query of the database, or of a slice.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._named: slices.SharedReads[HoldName, _Placed | None] = slices.SharedReads(
            pool, _read, lambda name: name.member_id
        )

    async def hold(self, member_id: str, hold_id: UUID, *, source: str | None = None) -> Hold | None:
        return _of_source(await self._named.ask(HoldName(member_id, hold_id)), source)

    async def holds(self, names: Collection[HoldName], *, source: str) -> dict[HoldName, Hold | BaseException | None]:
        """Of each name the hold, or why it cannot be read; None where the source has no such hold."""
        placed = await self._named.ask_all(names)
        return {
            name: each if isinstance(each, BaseException) else _of_source(each, source) for name, each in placed.items()
        }

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


async def _read(slice_: slices.Slice, together: Sequence[PendingRequest[HoldName, _Placed | None]]) -> None:
    members, ids = zip(*{waiting.request for waiting in together}, strict=True)
    async with slice_.at() as connection:
        rows = await connection.fetch(*_NAMED(members=members, ids=ids))
    placed = [_Placed(read_hold(hold), source) for *hold, source in rows]
    by_name = {HoldName(each.hold.member_id, each.hold.hold_id): each for each in placed}
    for waiting in together:
        waiting.answer(by_name.get(waiting.request))


def _of_source(placed: _Placed | None, source: str | None) -> Hold | None:
    return placed.hold if placed is not None and source in {None, placed.source} else None


def read_hold(row: Iterable[Any]) -> Hold:
    """From the values of a hold's columns."""
    hold = Hold(*row)
    return hold._replace(status=HoldStatus(hold.status))
