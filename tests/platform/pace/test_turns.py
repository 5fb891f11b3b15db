"""Turns in Postgres: all who take them together get no more than the pace allows."""

import asyncio
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from abacus.core.errors import Refused
from abacus.platform.pace.decide.pace import NotARate, Pace, Rate, read_rate, silent_hour
from abacus.platform.pace.turns import Turns, take_turns
from abacus.platform.postgres import Pool

pytestmark = pytest.mark.once  # its tables lie on one server, with slices and without

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
TEN_A_SECOND = Pace([Rate(timedelta(milliseconds=100))], ZoneInfo("UTC"))


async def test_together_they_take_what_the_pace_allows(pool: Pool) -> None:
    """Those of a second ahead are given out at once, and the next only later."""
    taken = await asyncio.gather(*(take_turns(pool, "awards", TEN_A_SECOND, NOON, 4) for _ in range(6)))
    assert sum(each.turns for each in taken) == 11
    assert (await take_turns(pool, "awards", TEN_A_SECOND, NOON, 4)).turns == 0
    assert (await take_turns(pool, "events", TEN_A_SECOND, NOON, 4)).turns == 4
    assert (await take_turns(pool, "awards", TEN_A_SECOND, NOON + timedelta(seconds=1), 100)).turns == 10


async def test_turns_that_are_not_used_stay_for_others(pool: Pool) -> None:
    async with pool.acquire() as connection:
        for used in (3, 0, 8):
            async with connection.transaction():
                turns = Turns(connection, "awards")
                given = await turns.offered(TEN_A_SECOND, NOON, 100)
                await turns.take(given, used)
    assert (await take_turns(pool, "awards", TEN_A_SECOND, NOON, 100)).turns == 0


async def test_a_pace_of_nothing_gives_no_turn(pool: Pool) -> None:
    silent = Pace([Rate(None)], ZoneInfo("UTC"))
    assert (await take_turns(pool, "awards", silent, NOON, 4)).turns == 0


@pytest.mark.parametrize("text", ["", "5", "5/d", "-1/s", "5/s@8", "5/s@8-20-21"])
def test_what_is_no_rate(text: str) -> None:
    with pytest.raises(NotARate):
        read_rate(text)


@pytest.mark.parametrize("text", ["5/s@8-8", "5/s@24-3", "5/s@3-25", "100001/s"])
def test_a_rate_at_fault(text: str) -> None:
    with pytest.raises(Refused):
        read_rate(text)


@pytest.mark.parametrize(
    ("texts", "hour"),
    [(["5/s"], None), (["5/s@8-20"], 0), (["5/s@0-12", "1/s@12-23"], 23), (["5/s@20-8", "0/s@8-20"], None)],
)
def test_an_hour_of_which_nothing_is_said(texts: list[str], hour: int | None) -> None:
    assert silent_hour([read_rate(text) for text in texts]) == hour
