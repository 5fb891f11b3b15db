"""The clock of the demo's story, and its chapters."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from abacus.cli.demo import chapters
from abacus.cli.demo.chapters import CHAPTERS, chapter_types
from abacus.cli.demo.chapters.people import PEOPLE
from abacus.cli.demo.story.clock import stopped_halfway, walking_clock
from abacus.core.sources import login_source
from abacus.people.store.audit import entry_of, log, write
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Pool, open_pool
from abacus.proof.verify import verify
from tests.proof.reported import lines
from tests.support.sealing import RECHECK

pytestmark = pytest.mark.once

_BEGIN = datetime(2026, 5, 2, 9, 30, tzinfo=UTC)
_TICK = timedelta(seconds=30)  # far longer than a test takes


async def test_it_walks_on_and_never_back(database_url: str) -> None:
    async with walking_clock(database_url, _BEGIN) as (clock, _):
        assert _BEGIN <= clock.now() < _BEGIN + _TICK
        later = _BEGIN + timedelta(days=40)
        await clock.walk(later)
        assert later <= clock.now() < later + _TICK
        await clock.walk(_BEGIN)
        assert later <= clock.now() < later + _TICK
        await clock.walk(datetime.now(UTC) + timedelta(days=1))
        assert datetime.now(UTC) - _TICK < clock.now() <= datetime.now(UTC)


async def test_the_database_tells_its_time_to_the_story_alone(database_url: str, pool: Pool) -> None:
    async with walking_clock(database_url, _BEGIN) as (clock, url):
        of_the_story = await open_pool(url, size=1)
        try:
            await clock.walk(_BEGIN + timedelta(days=3))
            for said in await of_the_story.fetchrow("select now(), clock_timestamp()"):
                assert abs(said - clock.now()) < _TICK
            async with of_the_story.acquire() as connection:
                await write(
                    connection, [entry_of(login_source("tests"), Deed.RUN_JOBS, "job:story", datetime.now(UTC))]
                )
            [entry] = await log(pool, subjects=["job:story"])
            assert abs(entry.at - clock.now()) < _TICK
        finally:
            await of_the_story.close()
        assert datetime.now(UTC) - await pool.fetchval("select clock_timestamp()") < _TICK
    assert await pool.fetchval("select to_regnamespace('story')") is None


async def test_no_leap_makes_an_entry_of_the_log_wait_for_days(database_url: str) -> None:
    """Nobody else gives entries their places here."""
    async with walking_clock(database_url, _BEGIN) as (clock, url):
        of_the_story = await open_pool(url, size=1)
        try:
            async with of_the_story.acquire() as connection:
                await write(connection, [entry_of(login_source("tests"), Deed.RUN_JOBS, "job:story", clock.now())])
            await clock.walk(_BEGIN + timedelta(days=1))
            assert lines(await verify(of_the_story, RECHECK)) == []
        finally:
            await of_the_story.close()


async def test_a_story_that_stopped_halfway_does_not_count_as_told(database_url: str, pool: Pool) -> None:
    assert not await stopped_halfway(pool)
    with pytest.raises(asyncio.CancelledError):
        async with walking_clock(database_url, _BEGIN):
            raise asyncio.CancelledError
    assert await stopped_halfway(pool)
    async with walking_clock(database_url, _BEGIN):
        pass
    assert not await stopped_halfway(pool)


def test_every_chapter_is_in_the_story() -> None:
    files = {each.stem for each in Path(chapters.__path__[0]).glob("[a-z]*.py")}
    assert files == set(CHAPTERS)


def test_each_person_has_a_page_to_look_at() -> None:
    assert {look.person_id for each in chapter_types() for look in each.looks} == set(PEOPLE)
