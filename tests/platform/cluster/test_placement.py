"""Slices on several servers: the schema keeps the rules that this asks for, and Citus takes it where there is one."""

import asyncio
from typing import Final

import asyncpg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.core.errors import Refused, Unavailable
from abacus.platform.cluster.placement import SlicePlacement, evened, placement_at
from abacus.platform.pool.sliced_pool import Address
from abacus.platform.postgres import Pool, is_passing, open_pool, passing_failures
from abacus.platform.slices import slice_map_of, slices_of
from abacus.platform.slices.layout import CUT, HEAD, OF_A_SLICE
from tests.support.cluster import Servers
from tests.support.internal_errors import internal
from tests.support.proxy import proxied
from tests.support.slices import SLICES

A, B, C, D = (Address("db", number) for number in range(4))


@pytest.mark.parametrize(
    ("held", "servers", "moves"),
    [
        ([A, A, B, B], [A, B], 0),
        ([A, A, A, B], [A, B], 1),
        ([A, A, A, A, B, B, B, B], [A, B, C], 2),
        ([A, B, A, B], [A], 2),
        ([A, B, C, D], [A, B, C, D], 0),
        ([D, D, D, D, D], [A, B], 5),
        ([], [A], 0),
    ],
)
def test_slices_are_spread_evenly_by_few_moves(held: list[Address], servers: list[Address], moves: int) -> None:
    where = {f"slice_{number}": address for number, address in enumerate(held)}
    assert len(evened(where, servers)) == moves


@given(
    held=st.lists(st.sampled_from((A, B, C, D)), max_size=40),
    servers=st.sets(st.sampled_from((A, B, C, D)), min_size=1).map(sorted),
)
def test_no_server_has_two_slices_more_than_another(held: list[Address], servers: list[Address]) -> None:
    where = {f"slice_{number}": address for number, address in enumerate(held)}
    for schema, source, target in evened(where, servers):
        assert where[schema] == source != target
        where[schema] = target
    counts = [list(where.values()).count(server) for server in servers]
    assert sum(counts) == len(held)
    assert max(counts) - min(counts) <= 1
    assert evened(where, servers) == []


async def test_unique_keys_of_a_slice_are_of_a_member_or_of_a_key(pool: Pool) -> None:
    """So each row has its place by the member, and no two servers need to agree on one. A message's id follows from its
    award's key.
    """
    rows = await pool.fetch(
        "select c.relname as table, a.attname as first from pg_index i join pg_class c on c.oid = i.indrelid"
        " join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]"
        " where i.indisunique and regexp_replace(c.relname, '_1$', '') = any($1::text[])",
        list(CUT),
    )
    assert {row["table"].removesuffix("_1") for row in rows} == set(CUT)
    assert {row["first"] for row in rows} == {"member_id", "key", "message_id"}


async def test_no_table_refers_to_another(pool: Pool) -> None:
    foreign = "select count(*) from pg_constraint where contype = 'f' and connamespace <> 'pg_catalog'::regnamespace"
    assert await pool.fetchval(foreign) == 0


@pytest.mark.parametrize("table", [*CUT, *OF_A_SLICE, HEAD])
async def test_no_table_of_a_slice_counts_by_itself(pool: Pool, table: str) -> None:
    """A sequence would be one for all servers."""
    counting = (
        "select count(*) from pg_attribute"
        " where attrelid = to_regclass($1) and (attidentity <> '' or attgenerated <> '')"
    )
    assert await pool.fetchval(counting, table if SLICES == 1 else f"slice_0.{table}") == 0


async def test_without_citus_nothing_is_placed(database_url: str, servers: Servers) -> None:
    if servers.are_several:
        pytest.skip("this server has Citus")
    async with placement_at(database_url) as slices:
        with pytest.raises(Refused, match="this database has no Citus; run `create extension citus` in it first"):
            await slices.place()
        with pytest.raises(Refused, match="the slices lie on one server"):
            await slices.placed()


ON_ITS_WAY: Final = internal("AcquirePlacementColocationLock", "could not acquire the lock required to move it")
LOST: Final = internal("ReportResultError", "fe_sendauth: no password supplied", where="while executing on db:5432")


class Busy:
    """A coordinator that refuses so many moves, and then moves."""

    def __init__(self, refusals: int, error: asyncpg.PostgresError) -> None:
        self._error = error
        self._left = refusals
        self.asked = 0

    async def execute(self, *_: object, **limits: float) -> None:
        assert limits["timeout"] > 3600
        self.asked += 1
        self._left -= 1
        if self._left >= 0:
            raise self._error


async def test_a_move_waits_for_a_table_that_is_made_in_its_slice() -> None:
    there = Address("127.0.0.1", 1)
    busy = Busy(2, ON_ITS_WAY)
    await SlicePlacement(busy, again_s=0.0).move("slice_0", there)
    assert busy.asked == 3
    always = Busy(99, ON_ITS_WAY)
    with pytest.raises(Refused, match="slice_0 was not moved: could not acquire the lock"):
        await SlicePlacement(always, again_s=0.0).move("slice_0", there)
    assert always.asked == 5
    for error, raised in (
        (internal("ErrorIfSameNode", "could not acquire the lock required to"), Refused),
        (LOST, Refused),
        (asyncpg.ConnectionDoesNotExistError("it went away"), asyncpg.ConnectionDoesNotExistError),
    ):
        other = Busy(1, error)
        with pytest.raises(raised):
            await SlicePlacement(other, again_s=0.0).move("slice_0", there)
        assert other.asked == 1


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        (ON_ITS_WAY, True),
        (internal("AcquireShardPlacementLock"), True),
        (internal("MarkRemoteTransactionFailed"), True),
        (internal("CheckRemoteTransactionsHealth"), True),
        (internal("InitializeCopyShardState"), True),
        (internal("FinishRemoteTransactionPrepare"), True),
        (internal("ErrorIfPostCommitFailedShardPlacements"), True),
        (internal("ScheduleNextPlacementExecution"), True),
        (internal("ReportResultError", "Server beendete die Verbindung unerwartet"), True),
        (internal("ReportResultError", code="23001"), False),
        (internal("ReportCopyError"), False),
        (internal("mdread", "server closed the connection unexpectedly"), False),
        (asyncpg.InternalServerError("could not acquire the lock required to"), False),
        (asyncpg.CheckViolationError("could not acquire the lock required to"), False),
    ],
)
def test_what_citus_says_of_its_servers_passes(error: asyncpg.PostgresError, passes: bool) -> None:  # noqa: FBT001  # a row's outcome
    assert is_passing(error) is passes


async def test_an_answer_of_another_server_says_where_it_comes_from() -> None:
    with pytest.raises(Unavailable, match=r"no password supplied \(while executing on db:5432\)"):
        async with passing_failures():
            raise LOST


@pytest.fixture
def on_several(servers: Servers) -> None:
    if not servers.are_several or SLICES == 1:
        pytest.skip("ABACUS_TEST_DATABASE_URL names no Citus, or ABACUS_TEST_SLICES is 1")


@pytest.mark.usefixtures("on_several")
async def test_slices_are_found_while_the_coordinator_is_away(database_url: str) -> None:
    async with proxied(database_url) as (proxy, address):
        opened = await open_pool(address, size=2, look_every_s=0.0)
        async with (await slices_of(opened))[0].at() as connection:
            port = await connection.fetchval("select inet_server_port()")
        await proxy.cut()
        async with (await slices_of(opened))[0].at() as connection:
            assert await connection.fetchval("select inet_server_port()") == port
        opened.look_anew()
        with pytest.raises(Unavailable):
            async with (await slices_of(opened))[0].at():
                pass
        opened.terminate()


@pytest.mark.usefixtures("on_several")
async def test_one_waits_for_a_coordinator_that_is_silent_and_others_go_on(database_url: str) -> None:
    async with proxied(database_url) as (proxy, address):
        opened = await open_pool(address, size=2, look_every_s=0.0)

        async def read() -> object:
            async with (await slices_of(opened))[0].at() as connection:
                return await connection.fetchval("select 7")

        assert await read() == 7
        proxy.silence()
        looking = asyncio.create_task(read())
        await asyncio.sleep(0)  # it goes as far as it can
        async with asyncio.timeout(20):
            assert [await read() for _ in range(3)] == [7] * 3
        assert not looking.done()
        looking.cancel()
        opened.terminate()


@pytest.mark.usefixtures("on_several")
async def test_slices_lie_on_the_servers_and_move(database_url: str, pool: Pool) -> None:
    async with placement_at(database_url) as slices:
        assert await slices.place() == [], "they are placed already"
        placed, servers = await slices.placed(), await slices.servers()
        assert [each.schema for each in placed] == list((await slice_map_of(pool)).schemas)
        assert {each.address for each in placed} == set(servers)
        assert await slices.evened() == []

        moved, source = placed[0].schema, placed[0].address
        target = next(each for each in servers if each != source)
        await slices.move(moved, target, blocking=True)
        assert (await slices.placed())[0].address == target
        back = [each for each in await slices.evened() if each.target == source]
        assert len(back) == 1
        with pytest.raises(Refused, match=f"{moved} was not moved"):
            await slices.move(moved, Address("127.0.0.1", 1))
    async with pool.acquire(schema=moved, near=True) as connection:
        assert await connection.fetchval("select inet_server_port()") == target.port
