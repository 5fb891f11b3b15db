"""One contract for every ledger that the harness posts to; Formance, Blnk, TigerBeetle and pgledger are simulated."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final, TypeAlias

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from abacus.core.errors import Unavailable
from benchmarks.rivals.blnk import Blnk
from benchmarks.rivals.formance import Formance
from benchmarks.rivals.ours import Ours
from benchmarks.rivals.pgledger import PgLedger
from benchmarks.rivals.plain_orm import PlainOrm
from benchmarks.rivals.port import POINTS, Rival, Sums, Work
from benchmarks.rivals.tigerbeetle import TigerBeetle
from tests.benchmarks.rivals.blnk_sim import BlnkSim
from tests.benchmarks.rivals.formance_sim import FormanceSim
from tests.benchmarks.rivals.pgledger_sim import SQL

WORK: Final = Work(members=20, issuers=3)
GRANTS: Final = 130  # of a call; with two calls a page of a hundred is not the last

Opening: TypeAlias = Callable[[str, Path, AsyncExitStack], Awaitable[Rival]]


async def ours(url: str, _folder: Path, _stack: AsyncExitStack) -> Rival:
    return Ours(url)


async def plain_orm(url: str, _folder: Path, _stack: AsyncExitStack) -> Rival:
    return PlainOrm(url)


async def pgledger(url: str, folder: Path, _stack: AsyncExitStack) -> Rival:
    (folder / "pgledger.sql").write_text(SQL, encoding="utf-8")
    return PgLedger(url, folder, a_call=GRANTS)


async def formance(url: str, _folder: Path, stack: AsyncExitStack) -> Rival:
    return Formance(await served(stack, FormanceSim().app), url)


async def blnk(url: str, _folder: Path, stack: AsyncExitStack) -> Rival:
    return Blnk(await served(stack, BlnkSim().app), url)


async def tigerbeetle(_url: str, folder: Path, _stack: AsyncExitStack) -> Rival:
    return TigerBeetle(str(folder), client="tests.benchmarks.rivals.tigerbeetle_sim")


async def served(stack: AsyncExitStack, app: web.Application) -> str:
    server = await stack.enter_async_context(TestServer(app))
    return str(server.make_url("/"))


KEYED: Final = (ours, plain_orm, formance, blnk, tigerbeetle)


@pytest.fixture(params=(*KEYED, pgledger), ids=lambda opening: opening.__name__)
async def rival(request: pytest.FixtureRequest, database_url: str, tmp_path: Path) -> AsyncIterator[Rival]:
    opening: Opening = request.param
    async with AsyncExitStack() as stack:
        yield await opening(database_url, tmp_path, stack)


async def test_grants_are_counted_one_by_one_and_all_sums_agree(rival: Rival) -> None:
    async with rival.room(WORK) as room, room.opened(2) as ledger:
        assert await ledger.sums() == Sums(0, 0, None if rival.accounts == 1 else 0)
        await asyncio.gather(*(ledger.post(WORK.call(number, GRANTS)) for number in range(2)))
        assert await ledger.counted() == dict.fromkeys(range(2 * GRANTS), 1)
        given = 2 * GRANTS * POINTS
        assert await ledger.sums() == Sums(given, given, None if rival.accounts == 1 else -given)
        size = await ledger.size()
        assert (size is None) == isinstance(rival, TigerBeetle)
        assert size is None or size > 1_000_000


async def test_a_grant_is_passed_over_the_second_time_where_it_has_a_key(rival: Rival) -> None:
    async with rival.room(WORK) as room, room.opened(1) as ledger:
        for number in (0, 1, 0):
            await ledger.post(WORK.call(number, GRANTS))
        counted, sums = await ledger.counted(), await ledger.sums()
    doubled = isinstance(rival, PgLedger)
    assert counted == {number: 2 if doubled and number < GRANTS else 1 for number in range(2 * GRANTS)}
    assert sums.members == (3 if doubled else 2) * GRANTS * POINTS
    assert sums.agree


async def test_rooms_know_nothing_of_each_other(rival: Rival) -> None:
    async with rival.room(WORK) as one, rival.room(WORK) as other, one.opened(1) as full, other.opened(1) as empty:
        await full.post(WORK.call(0, GRANTS))
        assert await empty.counted() == {}
        assert (await empty.sums()).members == 0


async def test_a_path_without_pgledger_says_where_to_get_it(database_url: str, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"github\.com/pgr0ss/pgledger"):
        async with PgLedger(database_url, tmp_path).room(WORK):
            pass


async def test_an_absent_client_says_where_to_get_it() -> None:
    with pytest.raises(Unavailable, match="of PyPI"):
        async with TigerBeetle("3000", client="no_such_client").room(WORK):
            pass


async def test_a_refusal_is_shown() -> None:
    async with AsyncExitStack() as stack:
        room = await stack.enter_async_context(Formance(await served(stack, FormanceSim().app)).room(WORK))
        ledger = await stack.enter_async_context(room.opened(1))
        with pytest.raises(Unavailable, match=r"413 .*BULK_SIZE_EXCEEDED"):
            await ledger.post(WORK.call(0, 201))


async def test_a_server_that_is_away_is_named() -> None:
    with pytest.raises(Unavailable, match="Blnk"):
        async with Blnk("http://127.0.0.1:1").room(WORK) as room, room.opened(1) as ledger:
            await ledger.post(WORK.call(0, 1))


@pytest.mark.parametrize(
    ("sums", "agree"),
    [
        (Sums(10, 10), True),
        (Sums(10, 9), False),
        (Sums(10, 10, -10), True),
        (Sums(10, 10, -9), False),
        (Sums(0, 0, 0), True),
        (Sums(10, 10, 0), False),
    ],
)
def test_which_sums_agree(sums: Sums, *, agree: bool) -> None:
    assert sums.agree == agree


def test_a_call_has_the_same_grants_whenever_it_is_made() -> None:
    assert WORK.call(3, 50) == WORK.call(3, 50)
    assert [grant.number for grant in WORK.call(3, 50)] == list(range(150, 200))
    assert {grant.issuer for grant in WORK.call(3, 50)} == {0, 1, 2}
    assert WORK.call(3, 50) != WORK.call(4, 50)
