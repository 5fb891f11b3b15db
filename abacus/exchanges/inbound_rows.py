"""Rows of what comes in: entered, committed, dropped, awarded. What is used of limits, and the position, change with
them in one transaction.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Final
from uuid import UUID

from abacus.core.clock import Clock
from abacus.exchanges.decide.caps import CapReached, Room, given_back, uses_of
from abacus.exchanges.decide.exchange import Exchange, State, Turn
from abacus.exchanges.decide.position import EntryKind
from abacus.exchanges.decide.programme import Programme
from abacus.exchanges.decide.turn import trail
from abacus.exchanges.exchange_rows import Step, add_uses, enter, locked, tell, write
from abacus.exchanges.metrics import IN_METRICS, Counting
from abacus.exchanges.position_rows import locked_standings, write_entries
from abacus.exchanges.room_rows import rooms_of
from abacus.exchanges.settler import VersionOf, entry_of
from abacus.platform.postgres import Pool, passing_failures

_NO_MONEY: Final = Decimal(0)  # what comes in needs none of ours


class InboundRows:
    """Every method raises `Unavailable` while the database is away. Standings are locked before rows."""

    def __init__(self, pool: Pool, version_of: VersionOf, clock: Clock, *, counting: Counting = IN_METRICS) -> None:
        self._pool = pool
        self._version_of = version_of
        self._clock = clock
        self._counting = counting

    async def enter(
        self, exchange: Exchange, programme: Programme | None, refused: Callable[[CapReached], Exchange]
    ) -> Exchange:
        """The row as it is then: this row, `refused` for a limit, or the row that was there before."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            if exchange.state is State.RESERVED and programme is not None:
                await locked_standings(connection, [programme.name])
                rooms = await rooms_of(connection, [(exchange, programme)], self._clock.now())
                exchange = _within(rooms[programme.name], exchange, programme, refused)
            if not await enter(connection, [exchange]):
                return (await locked(connection, [exchange.exchange_id]))[exchange.exchange_id]
            await tell(connection, [_first(exchange)])
            if exchange.state is State.RESERVED and programme is not None:
                uses = uses_of(exchange, programme.timezone)
                await add_uses(connection, dict.fromkeys(uses, exchange.points))
        self._counting.turned([exchange])
        return exchange

    async def change(
        self, exchanges: Sequence[Exchange], change: Callable[[Exchange], Exchange], by: str
    ) -> Mapping[UUID, Exchange]:
        """The rows as they are then, by their ids; each is changed as it stands under its lock."""
        programmes = {each.exchange_id: await self._programme(each) for each in exchanges}
        names = {each.name for each in programmes.values() if each is not None}
        now = self._clock.now()
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            standings = await locked_standings(connection, names) if names else {}
            found = await locked(connection, [each.exchange_id for each in exchanges])
            steps = [_step(each, change(each), now, by) for each in found.values()]
            await write(connection, [each for each in steps if each.after != each.before])
            turned = [
                (each.after, programme)
                for each in steps
                if each.turns and (programme := programmes[each.after.exchange_id]) is not None
            ]
            drafts = [
                entry_of(after, programme, EntryKind.AWARDED)
                for after, programme in turned
                if after.state is State.AWARDED
            ]
            await write_entries(connection, standings, drafts, now)
            free = [(after, programme.timezone) for after, programme in turned if after.state is State.DROPPED]
            await add_uses(connection, given_back(free))
        self._counting.turned(each.after for each in steps if each.turns)
        return {each.after.exchange_id: each.after for each in steps}

    async def _programme(self, exchange: Exchange) -> Programme | None:
        """None for a tombstone of an id that was never heard of."""
        return await self._version_of(exchange.programme, exchange.version) if exchange.programme else None


def _within(
    room: Room, exchange: Exchange, programme: Programme, refused: Callable[[CapReached], Exchange]
) -> Exchange:
    try:
        room.check(exchange, programme, _NO_MONEY, _NO_MONEY)
    except CapReached as fault:
        return refused(fault)
    return exchange


def _first(exchange: Exchange) -> Turn:
    by = exchange.source
    return Turn(exchange.exchange_id, 1, exchange.state, exchange.changed_at, by, exchange.reason, exchange.detail)


def _step(before: Exchange, after: Exchange, now: datetime, by: str) -> Step:
    told = trail(before, after, now, by)
    return Step(before, after, [told] if told else [])
