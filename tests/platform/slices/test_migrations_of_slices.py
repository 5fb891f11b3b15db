"""Migrations of a ledger that is cut: one slice after the other, while the others are used."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import asyncpg
import pytest

from abacus.core.errors import Refused, Unavailable
from abacus.platform.migrations import HEAD, SCRIPTS, current_revision, cut, head_revision, migrate
from abacus.platform.postgres import open_pool, passing_failures
from abacus.platform.slices.layout import SliceMap
from tests.platform.slices import notes_into_slices
from tests.support.old_database import database_at
from tests.support.services import Services
from tests.support.waiting import waiting

pytestmark = pytest.mark.once  # these tests cut their ledgers themselves

MEMBERS: Final = [f"m{number}" for number in range(30)]
NOTES: Final = """
create table note (member_id text collate "C" primary key, said text not null);
insert into note select 'm' || n, 'thanks' from generate_series(0, 29) n;
"""
NOTED: Final = "select member_id, said from note order by member_id"


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    """The migrations, with one more."""
    copied = shutil.copytree(SCRIPTS, tmp_path / "alembic", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(str(notes_into_slices.__file__), copied / "versions" / "9999_notes_into_slices.py")
    return copied


@pytest.fixture
async def url(services: Services) -> AsyncIterator[str]:
    """A ledger in three slices, in a database of its own: the databases of other tests may be cut already."""
    async with database_at(HEAD, services) as address:
        await cut(address, 3)
        yield address


@pytest.fixture
async def connection(url: str) -> AsyncIterator[asyncpg.Connection]:
    """To the same, with notes of thirty members."""
    opened = await asyncpg.connect(url)
    await opened.execute(NOTES)
    yield opened
    await opened.close()


@pytest.mark.long
async def test_rows_go_to_the_slices_of_their_members(url: str, connection: asyncpg.Connection, scripts: Path) -> None:
    noted = await connection.fetch(NOTED)
    assert await migrate(url, scripts=scripts) == (head_revision(), "9999")
    assert await connection.fetch(NOTED) == noted
    for number in range(3):
        here = [member for member in MEMBERS if SliceMap(3).slice_of(member) == number]
        rows = await connection.fetch(f"select member_id from slice_{number}.note")
        assert sorted(row[0] for row in rows) == sorted(here)


async def test_a_ledger_that_is_not_cut_has_no_steps(services: Services, scripts: Path) -> None:
    """In a database of its own: nothing but its revision changes, so that another test would be given it."""
    told: list[str] = []
    async with database_at(HEAD, services) as whole:
        revisions = await migrate(whole, scripts=scripts, told=lambda revision, *_: told.append(revision))
    assert revisions == (head_revision(), "9999")
    assert told == []


@pytest.mark.long
async def test_a_migration_that_is_interrupted_goes_on_with_the_slices_that_are_left(
    url: str, connection: asyncpg.Connection, scripts: Path
) -> None:
    """What goes into the slices can be read meanwhile, and who would change it waits."""
    told: list[tuple[str, int, int]] = []

    def tell(revision: str, done: int, slices: int) -> None:
        told.append((revision, done, slices))

    noted = await connection.fetch(NOTED)
    await connection.execute("create table slice_1.note ()")
    with pytest.raises(Refused, match='relation "note" already exists'):
        await migrate(url, told=tell, scripts=scripts)
    assert told == [("9999", 0, 3), ("9999", 1, 3)]
    assert await current_revision(url) == head_revision()
    assert await connection.fetchval("select count(*) from slice_0.note") > 0
    assert await connection.fetchval("select to_regclass('slice_2.note')") is None
    assert await connection.fetch(NOTED) == noted
    with pytest.raises(Unavailable, match="goes into the slices; `abacus migrate` has not come to its end"):
        async with passing_failures():
            await connection.execute("update note set said = 'sorry'")
    await connection.execute("drop table slice_1.note")
    told.clear()
    await migrate(url, told=tell, scripts=scripts)
    assert told == [("9999", 1, 3), ("9999", 2, 3), ("9999", 3, 3)]
    assert await connection.fetch(NOTED) == noted
    assert await connection.fetch("select from slice_step") == []


@pytest.mark.long
async def test_while_one_slice_is_migrated_the_others_are_posted_to(
    url: str, connection: asyncpg.Connection, scripts: Path
) -> None:
    pool = await open_pool(url, size=1, role=None)
    async with asyncio.timeout(60):
        blocking = connection.transaction()
        await blocking.start()
        await connection.execute("insert into slice_step values (1, 'of somebody else')")
        migrating = asyncio.create_task(migrate(url, scripts=scripts))
        await waiting(pool, migrating)
        for number in (0, 2):
            member = next(member for member in MEMBERS if SliceMap(3).slice_of(member) == number)
            await pool.execute(
                f"insert into slice_{number}.account (member_id, program, country) values ($1, 'GRP', 'SG')", member
            )
        await blocking.rollback()
        await migrating
    await pool.close()
    assert await connection.fetchval("select count(*) from account") == 2
