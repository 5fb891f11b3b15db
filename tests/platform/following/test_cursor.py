"""A table walked in the order of its transactions, and the cursor that says how far."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Final, NamedTuple

import pytest

from abacus.core.errors import Unavailable
from abacus.platform.following.cursor import Cursor, Walk
from abacus.platform.postgres import Connection, Pool
from tests.support.neighbours import neighbours_are_through

NOW: Final = datetime(2026, 5, 1, tzinfo=UTC)
LATER: Final = datetime(2026, 5, 2, tzinfo=UTC)

_TABLES: Final = """
create temporary table walked (who text collate "C", n bigint, said text, xid xid8 default pg_current_xact_id());
create temporary table walker (name text primary key, xid xid8, who text, n bigint, moved_at timestamptz)
"""


class Row(NamedTuple):
    """Something in the table."""

    who: str
    n: int
    said: str


class Position(NamedTuple):
    """The place of the last row that was read."""

    xid: str
    who: str
    n: int


START: Final = Position("0", "", 0)
WALK: Final = Walk("walked", Row, START, batch=3)


@pytest.fixture
async def connection(pool: Pool) -> AsyncIterator[Connection]:
    await neighbours_are_through(pool)
    async with pool.acquire() as opened:
        await opened.execute(_TABLES)
        yield opened
        await opened.execute("drop table walked, walker")


async def write(connection: Connection, xid: int, *rows: Row) -> None:
    await connection.executemany(f"insert into walked values ($1, $2, $3, '{xid}'::xid8)", rows)


async def walk(connection: Connection, position: Position = START) -> list[list[str]]:
    """The rows' texts, batch by batch."""
    batches = []
    while (next_rows := await WALK.next(connection, position)) is not None:
        batches.append([row.said for row in next_rows.rows])
        position = next_rows.reached
    return batches


async def test_by_transaction_and_then_by_key(connection: Connection) -> None:
    await write(connection, 9, Row("bob", 2, "c"), Row("bob", 1, "b"), Row("ann", 7, "a"))
    await write(connection, 10, Row("ann", 8, "d"))
    assert await walk(connection) == [["a", "b", "c"], ["d"]]
    assert await walk(connection, Position("9", "bob", 1)) == [["c", "d"]]
    assert await WALK.waiting(connection, Position("9", "bob", 1)) == 2


async def test_transaction_ids_are_numbers_and_not_texts(connection: Connection) -> None:
    """As texts, 10 comes before 9: if 10 has more than a batch, the rows of 9 would be passed over for ever."""
    await write(connection, 10, *(Row("bob", n, f"then {n}") for n in range(5)))
    await write(connection, 9, Row("bob", 9, "first"))
    assert await walk(connection) == [["first", "then 0", "then 1"], ["then 2", "then 3", "then 4"]]


async def test_whatever_is_written_after_an_open_transaction_waits_for_it(connection: Connection, pool: Pool) -> None:
    async with pool.acquire() as other:
        late = other.transaction()
        await late.start()
        await other.fetchval("select pg_current_xact_id()")
        await connection.execute("insert into walked (who, n, said) values ('bob', 1, 'meanwhile')")
        assert await walk(connection) == []
        assert await WALK.waiting(connection, START) == 1
        await late.rollback()
    await neighbours_are_through(pool)
    assert await walk(connection) == [["meanwhile"]]


async def test_a_position_that_the_server_has_not_reached_is_told(connection: Connection) -> None:
    with pytest.raises(Unavailable, match=r"over walked stands at transaction 9000000000.*restored from a dump"):
        await WALK.next(connection, Position("9000000000", "", 0))


async def test_a_cursor_begins_at_the_start_and_is_made_once(connection: Connection) -> None:
    cursor = Cursor("walker", "name", "us", START)
    for now in (NOW, LATER):
        assert await cursor.position(connection, now) == START
    assert await connection.fetch("select name, moved_at from walker") == [("us", NOW)]


async def test_a_cursor_moves_from_where_it_was_read_and_from_nowhere_else(connection: Connection) -> None:
    cursor, others = Cursor("walker", "name", "us", START), Cursor("walker", "name", "them", START)
    read = await cursor.position(connection, NOW)
    await others.position(connection, NOW)
    await cursor.move(connection, read, Position("7", "bob", 1), LATER)
    assert await cursor.position(connection, NOW) == Position("7", "bob", 1)
    await cursor.move(connection, read, Position("9", "bob", 1), LATER)  # rewound meanwhile, or moved by another
    assert await cursor.position(connection, NOW) == Position("7", "bob", 1)
    assert await others.position(connection, NOW) == START
    assert await connection.fetchval("select moved_at from walker where name = 'us'") == LATER


@pytest.mark.parametrize("is_there", [True, False])
async def test_a_cursor_is_put_wherever_it_stands(connection: Connection, is_there: bool) -> None:  # noqa: FBT001  # a case
    cursor = Cursor("walker", "name", "us", START)
    if is_there:
        await cursor.move(connection, await cursor.position(connection, NOW), Position("7", "bob", 1), NOW)
    await cursor.put(connection, Position("3", "", 0), LATER)
    assert await cursor.position(connection, NOW) == Position("3", "", 0)
