"""One of two houses is restored to an older copy of its books: each id that does not tie is a break of its kind."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit
from uuid import UUID

import asyncpg
import pytest

from abacus.exchanges.books.desk import BooksDesk
from abacus.exchanges.decide.exchange import State
from abacus.exchanges.decide.matching import BreakKind
from abacus.exchanges.types import PartnerStatement
from abacus.platform.postgres import Pool, open_pool
from tests.support.databases import TestDatabase
from tests.support.exchange_house import SHOP, ExchangeHouse
from tests.support.partner_sim import Partner, partner_sim, today
from tests.support.rewards import give_points

pytestmark = [pytest.mark.long, pytest.mark.once]


@asynccontextmanager
async def opened(url: str, partner: Partner) -> AsyncIterator[ExchangeHouse]:
    pool = await open_pool(url, size=4)
    try:
        yield ExchangeHouse(pool, partner=partner.port)
    finally:
        await pool.close()


@asynccontextmanager
async def copied(url: str) -> AsyncIterator[str]:
    """The address of a copy of the database, to which nobody may be connected."""
    parts = urlsplit(url)
    name = parts.path.removeprefix("/")
    owner = await asyncpg.connect(parts._replace(path="/postgres").geturl())
    try:
        async with asyncio.timeout(20):
            while not await _copy(owner, name):  # noqa: ASYNC110  # closed connections take a moment to end at the server
                await asyncio.sleep(0.05)
        yield parts._replace(path=f"/{name}_old").geturl()
    finally:
        await owner.execute(f"drop database if exists {name}_old with (force)")
        await owner.close()


async def _copy(owner: asyncpg.Connection, name: str) -> bool:
    try:
        await owner.execute(f"create database {name}_old template {name}")
    except asyncpg.ObjectInUseError:
        return False
    return True


async def breaks(house: ExchangeHouse, partner: Partner) -> dict[str, BreakKind]:
    """By what they are about, once the day and the one after it are complete."""
    desk = BooksDesk(house.pool, house.clock)
    said = await partner.port.statement(today())
    await desk.match(house.programme, said._replace(complete=True))
    await desk.match(house.programme, PartnerStatement(today() + timedelta(days=1), complete=True, lines=[]))
    return {each.about: each.kind for each in await desk.breaks()}


async def state(house: ExchangeHouse, id_: UUID) -> State | None:
    found = await house.desk.one(id_)
    return None if found is None else found.state


async def captured(house: ExchangeHouse, key: str) -> UUID:
    held = await house.exchange(key=key)
    await house.later()
    assert (await house.now(held)).state is State.CAPTURED
    return held.exchange_id


async def reversed_(house: ExchangeHouse, id_: UUID) -> None:
    found = await house.desk.one(id_)
    assert found is not None
    await house.desk.reverse(found, SHOP)
    await house.later()
    assert await state(house, id_) is State.REVERSED


async def furnish(pool: Pool, house: ExchangeHouse) -> None:
    await give_points(pool, ["bob"], 20_000)
    await house.prefund()


async def test_an_old_copy_of_the_house(database: TestDatabase) -> None:
    await database.close()  # sessions of the test before
    database_url = database.address
    async with partner_sim() as partner:
        async with opened(database_url, partner) as house:
            await furnish(house.pool, house)
            undone, tied = await captured(house, "1"), await captured(house, "2")
            house.room = 0
            held = (await house.exchange(key="3")).exchange_id
        async with copied(database_url) as old:
            async with opened(database_url, partner) as house:
                await house.later()
                lost = await captured(house, "4")
                await reversed_(house, undone)
            there = {each["id"] for each in (await partner.ledger())["transfers"]}
            assert there == {str(each) for each in (undone, tied, held, lost)}
            async with opened(old, partner) as house:
                house.room = 0  # as long as nothing is matched, nothing is sent
                await house.later()
                assert await breaks(house, partner) == {
                    str(lost): BreakKind.NOT_OURS,
                    str(undone): BreakKind.REVERSAL,
                }
                assert await state(house, held) is State.HELD
                house.room = 250
                await house.later(timedelta(minutes=1))
                assert await state(house, held) is State.CAPTURED
                assert await partner.balance("4711") == 3 * 1000


async def test_an_old_copy_of_the_partner(database_url: str, tmp_path: Path) -> None:
    now, old = tmp_path / "now.sqlite", tmp_path / "old.sqlite"
    async with partner_sim(now) as partner, opened(database_url, partner) as house:
        await furnish(house.pool, house)
        undone, tied = await captured(house, "1"), await captured(house, "2")
        for tail in ("", "-wal"):
            shutil.copy(f"{now}{tail}", f"{old}{tail}")
        lost = await captured(house, "3")
        await reversed_(house, undone)
        async with partner_sim(old) as restored:
            assert {each["id"] for each in (await restored.ledger())["transfers"]} == {str(undone), str(tied)}
            assert await breaks(house, restored) == {
                str(lost): BreakKind.NOT_THEIRS,
                str(undone): BreakKind.REVERSAL,
            }
