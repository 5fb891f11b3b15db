"""The sweeper goes through a whole table in steps, and takes only what is over and free."""

from datetime import UTC, datetime, timedelta

import pytest

from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.platform.retention.life import Life
from abacus.platform.retention.sweeper import Swept, sweep

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
LIFE = Life("journey_refusal", "at < :before", timedelta(days=100))
_ADD = """
insert into journey_refusal (member_id, journey, version, at, why)
select 'm' || g, 'welcome', 1, $1::timestamptz - make_interval(days => g), 'rule' from unnest($2::integer[]) g
"""


async def days_left(pool: Pool) -> list[int]:
    rows = await slices.rows(pool, ("select at from journey_refusal",))
    return sorted((NOW - row["at"]).days for row in rows)


async def swept(pool: Pool, life: Life, *, page: int) -> list[Swept]:
    paged = life._replace(page=page)
    return [step for each in await slices.slices_of(pool) async for step in sweep(each, paged, NOW, pause_s=0.0)]


@pytest.fixture
async def filled(pool: Pool) -> Pool:
    """The reasons of 250 members, who were refused 1 to 250 days ago."""
    slice_map = await slices.slice_map_of(pool)
    for each in await slices.slices_of(pool):
        async with each.at() as connection:
            mine = [days for days in range(1, 251) if slice_map.slice_of(f"m{days}") == each.number]
            await connection.execute(_ADD, NOW, mine)
    return pool


@pytest.mark.parametrize("page", [1000, 60, 7])
async def test_what_is_over_goes_and_what_is_younger_stays(filled: Pool, page: int) -> None:
    steps = await swept(filled, LIFE, page=page)
    assert sum(deleted for _, deleted in steps) == 150
    assert all(seen <= page for seen, _ in steps)
    assert await days_left(filled) == list(range(1, 101))
    assert sum(deleted for _, deleted in await swept(filled, LIFE, page=page)) == 0


async def test_a_row_that_is_locked_stays_for_the_next_sweep(filled: Pool) -> None:
    async with slices.at(filled, "m250") as connection, connection.transaction():
        await connection.execute("select from journey_refusal where member_id = 'm250' for update")
        await swept(filled, LIFE, page=1000)
    assert await days_left(filled) == [*range(1, 101), 250]
    await swept(filled, LIFE, page=1000)
    assert await days_left(filled) == list(range(1, 101))


async def test_a_sweep_that_is_cut_off_has_done_what_it_has_done(filled: Pool) -> None:
    for each in await slices.slices_of(filled):
        async for step in sweep(each, LIFE._replace(page=20), NOW, pause_s=0.0):
            if step.deleted:
                break
    assert 100 < len(await days_left(filled)) < 250
    await swept(filled, LIFE, page=20)
    assert await days_left(filled) == list(range(1, 101))
