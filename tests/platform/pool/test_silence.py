"""A server that is silent, with its connections open: it keeps nobody waiting, and is used again when it answers."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import asyncpg
import pytest

from abacus.core.errors import Unavailable
from abacus.platform.pool import sliced_pool as pools
from abacus.platform.pool.sliced_pool import Address, Noted
from abacus.platform.postgres import Connection, Pool, open_pool, passing_failures
from tests.support.house import until
from tests.support.proxy import Proxy, proxied

NOTICED_WITHIN_S = 8.0  # on a machine that is busy; it takes three and a half
BESIDE = 2


class Pair:
    """Two servers with a slice each, before one Postgres, and what a pool notes of them."""

    def __init__(
        self, owner: Connection, pool: Pool, proxies: list[Proxy], sockets: dict[str, int], away: dict[str, int]
    ) -> None:
        self.owner = owner
        self.pool = pool
        self.first, self.second = proxies
        self.sockets = sockets
        self.away = away

    def at(self, number: int) -> Connection:
        return self.pool.acquire(schema=f"slice_{number}", near=True)

    async def answers(self, number: int) -> bool:
        try:
            async with passing_failures(), self.at(number) as connection:
                return bool(await connection.fetchval("select true"))
        except Unavailable:
            return False


@pytest.fixture
async def pair(database_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Pair]:
    async with AsyncExitStack() as stack:
        proxies = [(await stack.enter_async_context(proxied(database_url)))[0] for _ in range(2)]
        lying = {f"slice_{number}": Address("127.0.0.1", proxy.port) for number, proxy in enumerate(proxies)}

        async def addresses(_: Connection) -> dict[str, Address]:
            return lying

        monkeypatch.setattr(pools, "addresses", addresses)
        sockets, away = dict[str, int](), dict[str, int]()

        def note(counts: dict[str, int], server: str, more: int) -> None:
            counts[server] = counts.get(server, 0) + more

        noted = Noted(lambda *of: note(sockets, *of), lambda *of: note(away, *of))
        pool = await open_pool(database_url, size=4, keeps_nothing=True, beside=BESIDE, noted=noted)
        owner = await asyncpg.connect(database_url)
        yield Pair(owner, pool, proxies, sockets, away)
        for proxy in proxies:
            proxy.speak()
        pool.terminate()
        owner.terminate()


async def outcome_of(pair: Pair, number: int, statement: str) -> str:
    try:
        async with passing_failures(), pair.at(number) as connection:
            return str(await connection.fetchval(statement))
    except Unavailable as error:
        return error.detail


@pytest.mark.long
async def test_who_waits_for_a_server_that_is_silent_is_told_and_it_is_used_again_when_it_answers(
    pair: Pair,
) -> None:
    assert await pair.answers(0)
    assert await pair.answers(1)
    pair.first.silence()
    began = time.monotonic()
    many = [asyncio.create_task(outcome_of(pair, 0, "select 1")) for _ in range(20)]
    assert await outcome_of(pair, 1, "select 2") == "2", "others go on"
    outcomes = await asyncio.gather(*many)
    assert time.monotonic() - began < NOTICED_WITHIN_S
    place = pair.first.address
    told = {f"{place} gave no answer", f"{place} is away: it gives no answer", f"{place} let nobody in: TimeoutError"}
    assert set(outcomes) <= told
    assert pair.away == {place: 1}
    began = time.monotonic()
    assert not any([await pair.answers(0) for _ in range(20)])
    with pytest.raises(ConnectionError, match=f"{place} is away"):  # nor does the coordinator ask it on our behalf
        async with pair.pool.acquire(schema="slice_0"):
            pass
    assert time.monotonic() - began < 1, "nobody tries again"
    assert await pair.answers(1)
    pair.first.speak()
    await until(lambda: pair.answers(0), within_s=20)
    assert pair.away == {place: 0}


@pytest.mark.long
async def test_a_statement_that_takes_long_is_waited_for_while_its_server_answers(pair: Pair) -> None:
    assert await outcome_of(pair, 0, "select pg_sleep(4)::text || 'done'") == "done"
    assert pair.away == {}


@pytest.mark.long
async def test_a_server_that_lets_nobody_in_is_away(pair: Pair) -> None:
    """Silent before anybody has a session there."""
    assert await pair.answers(1)
    pair.first.silence()
    began = time.monotonic()
    assert not await pair.answers(0)
    assert time.monotonic() - began < NOTICED_WITHIN_S
    await until(lambda: _is(pair.away.get(pair.first.address) == 1))


@pytest.mark.long
async def test_nobody_waits_for_a_session_of_a_server_that_is_away(pair: Pair) -> None:
    """Its opening was begun before the server was known to be away."""
    assert await pair.answers(1)
    pair.first.silence()
    opening = asyncio.create_task(outcome_of(pair, 0, "select 1"))
    await until(lambda: _is(pair.away.get(pair.first.address) == 1))
    assert await asyncio.wait_for(opening, 1) == f"{pair.first.address} let nobody in: TimeoutError"


async def test_a_statement_that_nobody_waits_for_any_more_ends_with_its_session(pair: Pair) -> None:
    """Also within a transaction, and where the server is silent: who is cancelled is cancelled at once."""
    doing = asyncio.create_task(_in_a_transaction(pair, "select pg_sleep(60) /* of a task that left */"))
    await until(lambda: _under_way(pair, 1))
    pair.first.silence()
    doing.cancel()
    began = time.monotonic()
    with pytest.raises(asyncio.CancelledError):
        await doing
    assert time.monotonic() - began < 1
    pair.first.speak()
    await until(lambda: _under_way(pair, 0), within_s=20)


async def test_what_asyncpg_raises_of_a_session_that_was_cut_looks_like_a_session_that_was_lost(pair: Pair) -> None:
    """It goes on with None in the place of its protocol, where the cut comes between an answer and its reader."""
    async with pair.at(1) as connection:
        with pytest.raises(AttributeError, match="of a session that lives"):
            _fail(connection, "of a session that lives")
        transaction = connection.transaction()
        connection.terminate()
        with pytest.raises(asyncpg.InterfaceError, match="released back to the pool"):
            connection.is_astray()
        with pytest.raises(asyncpg.InterfaceError, match="the session was cut off"):
            await transaction.start()
    async with pair.at(1) as connection:
        listening = connection.listening()
        connection.terminate()
        with pytest.raises(ConnectionError, match="the session was cut off"), listening:
            raise AttributeError("'NoneType' object has no attribute 'bind_execute'")


async def test_connections_to_a_server_are_bounded_and_counted(pair: Pair) -> None:
    statements = [outcome_of(pair, number % 2, "select pg_sleep(0.05)::text || 'done'") for number in range(20)]
    assert set(await asyncio.gather(*statements)) == {"done"}
    counted = {pair.first.address: BESIDE, pair.second.address: BESIDE}
    assert {server: count for server, count in pair.sockets.items() if server in counted} == counted
    await pair.pool.close()
    await asyncio.sleep(0)
    assert set(pair.sockets.values()) == {0}


async def _in_a_transaction(pair: Pair, statement: str) -> None:
    async with pair.at(0) as connection, connection.transaction():
        await connection.execute("select 1")
        await connection.execute(statement)


def _fail(connection: Connection, why: str) -> None:
    with connection.listening():
        raise AttributeError(why)


async def _under_way(pair: Pair, count: int) -> bool:
    running = "select count(*) from pg_stat_activity where state = 'active' and query like '%of a task that left%'"
    return bool(await pair.owner.fetchval(f"{running} and pid <> pg_backend_pid()") == count)


async def _is(condition: bool) -> bool:  # noqa: FBT001  # what is awaited is looked at anew each time
    return condition
