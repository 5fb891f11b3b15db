"""An exchange that cannot be gone on with holds up no other: its version is lost, or something is away for it."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID, uuid4

import pytest

from abacus.core.clock import SystemClock
from abacus.core.errors import AbacusError, Unavailable
from abacus.exchanges.decide.exchange import Exchange, State
from abacus.exchanges.decide.programme import Programme
from abacus.exchanges.decide.turn import called_off
from abacus.exchanges.exchange_rows import Step, enter
from abacus.exchanges.exchanger import LEASE
from abacus.exchanges.settler import Beside, MovesBeside
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.types.movement import Moved, Movement
from abacus.ledger.types.port import SliceAway, Unpostable
from abacus.platform.postgres import Pool, nothing_else, open_pool
from tests.exchanges.test_exchanger import DAY, a_house
from tests.support.exchange_house import ExchangeHouse
from tests.support.exchanged import exchange
from tests.support.memory_partner import MemoryPartner
from tests.support.rewards import give_points


class _ReadingHouse(ExchangeHouse):
    """Where each look at a programme needs a connection of the pool."""

    async def version_of(self, name: str, version: int) -> Programme:
        async with self.pool.acquire():
            return await super().version_of(name, version)


async def test_versions_are_read_while_no_connection_is_held(pool: Pool, database_url: str) -> None:
    """Else lanes that have all connections of the pool would wait for another one for ever."""
    await give_points(pool, ["bob"], 10_000)
    narrow = await open_pool(database_url, size=1, keeps_nothing=True)
    try:
        house = _ReadingHouse(narrow, moves=lambda clock: PostgresMoves(pool, clock))
        await house.prefund()
        held = await house.exchange()
        async with asyncio.timeout(10):
            await asyncio.gather(house.exchanger.go_round(), house.exchanger.go_round())
            await house.later()
        assert (await house.now(held)).state is State.CAPTURED
    finally:
        await narrow.close()


class _Away:
    """`Reviews` and `Incoming` that cannot be reached."""

    async def looked_at(self, some: Sequence[Exchange], now: datetime) -> list[Step]:
        raise Unavailable("approvals", "away")

    async def carry(self, some: Sequence[Exchange]) -> None:
        raise Unavailable("awards", "away")


async def test_what_is_away_for_some_holds_up_no_others(pool: Pool) -> None:
    """What is to be sent goes, and what is to be released is free, though nothing is awarded and nobody reviews."""
    house = await a_house(pool)
    house.incoming = house.reviews = _Away()
    going, off = await house.exchange(key="1"), await house.exchange(key="2")
    await _step(house, off, called_off(off, house.clock.now()))
    waiting = [exchange(each, exchange_id=uuid4()) for each in (State.REVIEW, State.COMMITTED)]
    await enter(pool, waiting)
    house.clock.set(house.clock.now() + timedelta(seconds=1))
    with pytest.raises(Unavailable, match="approvals"):
        await house.exchanger.go_round()
    states = [(await house.now(each)).state for each in (going, off, *waiting)]
    assert states == [State.CAPTURED, State.RELEASED, State.REVIEW, State.COMMITTED]


class _Restored(ExchangeHouse):
    """It has lost every version but one."""

    async def version_of(self, name: str, version: int) -> Programme:
        if version != self.programme.version:
            raise Unavailable("exchanges", f"no {name}@{version} was approved")
        return await super().version_of(name, version)


async def test_a_version_that_is_lost_holds_up_its_own_exchanges_alone(pool: Pool, database_url: str) -> None:
    await give_points(pool, ["bob"], 10_000)
    house = _Restored(pool)
    await house.prefund()
    lost, other = await house.exchange(key="lost"), await house.exchange(key="other")
    owner = await open_pool(database_url, size=1, role=None)
    await owner.execute("update exchange set version = 9 where exchange_id = $1", lost.exchange_id)
    await owner.close()
    for _ in range(2):
        await house.later()
    assert [(await house.now(each)).state for each in (lost, other)] == [State.HELD, State.CAPTURED]


async def test_quotes_are_forgotten_where_nothing_else_is_due(pool: Pool) -> None:
    house = await a_house(pool)
    quote = await house.quote()
    assert await house.exchanger.go_round() == 0
    assert await house.hearing.one(quote) is not None
    house.clock.set(house.clock.now() + 2 * DAY)
    assert await house.exchanger.go_round() == 0
    assert await house.hearing.one(quote) is None


async def _step(house: ExchangeHouse, before: Exchange, after: Exchange) -> None:
    """A change by which nothing is moved yet."""
    await house.hearing.step(Step(before, after), nothing_else)


class _RefusingMoves:
    """A ledger that cannot write what concerns some exchanges."""

    def __init__(self, moves: MovesBeside, fault: AbacusError) -> None:
        self._moves = moves
        self._fault = fault
        self.refused: set[UUID] = set()

    async def move_beside(self, movements: Sequence[Movement], beside: Beside) -> list[Moved]:
        if any(str(id_) in each.key for each in movements for id_ in self.refused):
            raise self._fault
        return await self._moves.move_beside(movements, beside)


async def test_what_the_ledger_cannot_write_holds_up_no_others(pool: Pool) -> None:
    await give_points(pool, ["bob"], 10_000)
    moves = _RefusingMoves(PostgresMoves(pool, SystemClock()), Unpostable("a value is refused"))
    house = ExchangeHouse(pool, moves=lambda _: moves)
    await house.prefund()
    held = [await house.exchange(key=str(number)) for number in range(3)]
    moves.refused = {held[1].exchange_id}
    await house.later()
    assert [(await house.now(each)).state for each in held] == [State.CAPTURED, State.CREDITED, State.CAPTURED]
    assert await house.exchanger.go_round() == 0  # it is tried again once its lease is over
    moves.refused = set()
    await house.later(LEASE)
    assert ((await house.now(held[1])).state, await house.points()) == (State.CAPTURED, (2500, 0))


async def test_what_a_partner_has_said_is_kept_while_the_slice_of_the_points_is_away(pool: Pool) -> None:
    await give_points(pool, ["bob"], 10_000)
    partner, moves = MemoryPartner(), _RefusingMoves(PostgresMoves(pool, SystemClock()), SliceAway("ledger", "away"))
    house = ExchangeHouse(pool, partner=partner, moves=lambda _: moves)
    await house.prefund()
    held = await house.exchange()
    moves.refused = {held.exchange_id}
    await house.later()
    assert ((await house.now(held)).state, await house.points()) == (State.CREDITED, (10_000, 2500))
    moves.refused = set()
    await house.later(LEASE)
    assert ((await house.now(held)).state, await house.points(), partner.asked) == (State.CAPTURED, (7500, 0), ["put"])
