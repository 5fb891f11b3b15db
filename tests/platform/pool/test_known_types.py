"""What is known of types: of those of Postgres once a process, of others once a session."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import asyncpg
import pytest

from abacus.platform.pool.known_types import KnownTypes
from abacus.platform.pool.led_connection import LedConnection

pytestmark = pytest.mark.once


@pytest.fixture(autouse=True)
def _nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that has used no type yet."""
    monkeypatch.setattr("abacus.platform.pool.led_connection.KNOWN_TYPES", KnownTypes())


@pytest.fixture
async def sessions(database_url: str) -> AsyncIterator[list[Any]]:
    """Two with the cache of statements, and one without."""
    async with AsyncExitStack() as stack:
        opened = []
        for kept in (100, 100, 0):
            session = await asyncpg.connect(database_url, connection_class=LedConnection, statement_cache_size=kept)
            stack.push_async_callback(session.close)
            opened.append(session)
        yield opened


async def asked(session: Any, statement: str, *values: object) -> tuple[Any, int]:
    """The answer, and how often the server was asked of types for it."""
    statements: list[str] = []
    with session.query_logger(lambda record: statements.append(record.query)):
        answer = await session.fetchval(statement, *values)
        await asyncio.sleep(0)  # asyncpg tells in the loop's next turn
    assert statements[-1] == statement
    return answer, sum("typeinfo_tree" in each for each in statements)


async def test_a_type_of_postgres_is_asked_for_once_a_process(sessions: list[Any]) -> None:
    first, *others = sessions
    statement = "select $1::int8[] || array(select jsonb_array_elements_text($2::jsonb)::int8)"
    assert await asked(first, statement, [1], "[2]") == ([1, 2], 1)
    for other in others:
        assert await asked(other, statement, [1], "[2]") == ([1, 2], 0)
        spans = "select array[int4range(1, 3)]"
        assert await asked(other, spans) == ([asyncpg.Range(1, 3)], int(other is others[0]))
        assert await asked(other, statement, [3], "[]") == ([3], 0)


async def test_an_array_is_read_as_its_session_reads_the_elements(sessions: list[Any]) -> None:
    plain, own, _ = sessions
    await own.set_type_codec("json", schema="pg_catalog", encoder=bytes, decoder=bytes, format="binary")
    statement = "select array['1'::json]"
    assert await asked(plain, statement) == (["1"], 1)
    assert await asked(own, statement) == ([b"1"], 0)


async def test_a_type_of_the_database_is_asked_for_in_each_session(sessions: list[Any]) -> None:
    """Its number is another type's in another database."""
    await sessions[0].execute("create type weather as enum ('sun', 'rain')")
    for session in sessions:
        assert await asked(session, "select array['sun', 'rain']::weather[]") == (["sun", "rain"], 1)


def test_a_row_of_the_catalog_is_not_kept() -> None:
    """It has more columns in another version of Postgres."""
    known = KnownTypes()
    told = {"elemtype": 0, "range_subtype": None}
    known.keep([{**told, "oid": 71, "kind": b"c"}, {**told, "oid": 2950, "kind": b"b"}])
    assert known.of([2950]) is not None
    assert known.of([71]) is None
    assert known.of([2950, 71]) is None
