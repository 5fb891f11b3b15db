"""Rows of another room in the transaction of movements: both are there, or neither."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

import asyncpg
import pytest

from abacus.core.errors import Unavailable
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.types.movement import Decline, Declined, Moved, Movement, Reserve
from abacus.ledger.types.port import Status
from abacus.platform.postgres import Connection, Pool
from abacus.platform.sql import Statement
from tests.ledger.ledgers import NOW
from tests.ledger.moves import earn, endless, exchange_out
from tests.support.fixed_clock import FixedClock

MEMBERS: Final = [f"member-{number}" for number in range(6)]  # of several slices, where there are any
_WRITE: Final = Statement("""
insert into exchange_use (owner, direction, period, points) values (:owner, 'out', :status, 1)
on conflict (owner, direction, period) do update set points = exchange_use.points + 1
""")


class Uses:
    """Writes a row for each movement, with its fate. Where somebody `ends` it, that is before its transaction does."""

    def __init__(self, refused: Collection[str] = (), ends: str | None = None) -> None:
        self._refused = refused
        self._ends = ends

    async def admit(self, connection: Connection, movements: Sequence[Movement]) -> Mapping[str, Declined]:
        await connection.execute("select from exchange_use order by owner for update")
        short = Declined(Decline.INSUFFICIENT, "the programme is short")
        return {movement.key: short for movement in movements if movement.key in self._refused}

    async def write(self, connection: Connection, moved: Sequence[Moved]) -> None:
        await connection.executemany(
            *_WRITE.rows([{"owner": each.movement.key, "status": each.status} for each in moved])
        )
        if self._ends:
            owner = await asyncpg.connect(self._ends)
            await owner.execute("select pg_terminate_backend($1)", await connection.fetchval("select pg_backend_pid()"))
            await owner.close()


def holds(points: int = 60) -> list[Reserve]:
    return [endless(points, member, member=member) for member in MEMBERS]


async def written(pool: Pool) -> dict[str, str]:
    rows = await pool.fetch("select owner, period from exchange_use where points = 1")
    return {row["owner"]: row["period"] for row in rows}


async def held(pool: Pool) -> set[str]:
    return {row["member_id"] for row in await pool.fetch("select member_id from account where held > 0")}


@pytest.fixture
async def moves(pool: Pool) -> PostgresMoves:
    clock = FixedClock(NOW)
    await PostgresLedger(pool, clock).post([earn(100, f"txn:rides:{each}", member_id=each) for each in MEMBERS])
    return PostgresMoves(pool, clock)


async def test_rows_are_written_with_the_movements(pool: Pool, moves: PostgresMoves) -> None:
    assert [each.status for each in await moves.move_beside(holds(), Uses())] == [Status.POSTED] * 6
    assert await written(pool) == dict.fromkeys((each.key for each in holds()), Status.POSTED)
    captures = [exchange_out(member, key=f"capture:{member}", member_id=member) for member in MEMBERS]
    assert [each.status for each in await moves.move_beside(captures, Uses())] == [Status.POSTED] * 6
    assert await pool.fetchval("select sum(balance) from account where held = 0") == 6 * 40
    assert len(await written(pool)) == 12


async def test_what_is_not_admitted_is_refused_unless_its_key_is_known(pool: Pool, moves: PostgresMoves) -> None:
    wanted = holds()
    await moves.move(wanted[:1])
    wanted[2] = wanted[2]._replace(points=101)
    fates = await moves.move_beside(wanted, Uses(refused=[each.key for each in wanted[:2]]))
    assert [each.status for each in fates] == [
        *(Status.DUPLICATE, Status.REFUSED, Status.REFUSED),
        *([Status.POSTED] * 3),
    ]
    assert [str(each.fault) for each in fates[1:3]] == [
        "insufficient-points: the programme is short",
        "insufficient-points: 101 points; 100 of 100 are available",
    ]
    assert await written(pool) == {each.movement.key: each.status for each in fates}, "also of what was refused"
    assert await held(pool) == {each.movement.member_id for each in (fates[0], *fates[3:])}


async def test_what_ends_half_done_leaves_nothing(pool: Pool, moves: PostgresMoves, database_url: str) -> None:
    with pytest.raises(Unavailable):
        await moves.move_beside(holds(), Uses(ends=database_url))
    assert (await written(pool), await held(pool)) == ({}, set())
    assert [each.status for each in await moves.move_beside(holds(), Uses())] == [Status.POSTED] * 6
    assert len(await written(pool)) == 6
