"""The month in which points lapse: accounts lapse at once, lots one by one, and points on hold or owed not at all."""

import itertools
from collections import Counter
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from abacus.core.clock import SystemClock
from abacus.ledger.store.post import PostgresLedger
from abacus.oversight.reports.accounts import HELD, NEVER, OWED, Due, ageing
from abacus.platform.postgres import Pool, snapshot
from abacus.programs.expiry.decide.month import Month, last_good_day
from abacus.programs.expiry.lapsing_sql import Expected, preview
from tests.oversight.reports.fifo import histories, lots_of
from tests.oversight.reports.histories import History, Move, write
from tests.support.awards import award
from tests.support.tries import tries

_programs = itertools.count()
DAY = timedelta(days=1)
TO_COME = last_good_day(datetime.now(UTC), ZoneInfo("UTC"), 2)
JULY, AUGUST = date(2026, 7, 31), date(2026, 8, 31)
LOTS = [Move("earn", 10, expires_on=JULY), Move("earn", 10, expires_on=AUGUST), Move("spend", -4)]


async def of(pool: Pool, program: str = "GRP") -> dict[str, int]:
    async with snapshot(pool) as connection:
        return {row.lapses: row.points for row in await ageing(connection) if row.program == program}


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        (History("bob", [Move("earn", 10)], expires_on=JULY), {"2026-07": 10}),
        (History("bob", [Move("earn", 10)], expires_on=JULY, held=4), {"2026-07": 6, HELD: 4}),
        (History("bob", [Move("earn", 10)]), {NEVER: 10}),
        (History("bob", [Move("earn", 10), Move("reverse", -15)], expires_on=JULY), {OWED: -5}),
        (History("bob", [Move("earn", 10), Move("spend", -10)], expires_on=JULY), {}),
        (History("bob", LOTS, expires_on=JULY, lifetime=True, lots_drawn=4), {"2026-07": 6, "2026-08": 10}),
        (
            History("bob", LOTS, expires_on=JULY, lifetime=True, lots_drawn=4, held=8),
            {"2026-08": 8, HELD: 8},
        ),
        (
            History("bob", [*LOTS, Move("spend", -7)], lifetime=True, lots_closed=1, lots_drawn=1),
            {"2026-08": 9},
        ),
        (  # the second lot was taken back, so the spend is all of the first one's
            History("bob", [*LOTS, Move("reverse", -10, draws=[(2, 10)])], lifetime=True, lots_drawn=4),
            {"2026-07": 6},
        ),
    ],
)
async def test_cases(pool: Pool, history: History, expected: dict[str, int]) -> None:
    await write(pool, [history])
    assert await of(pool) == expected


@settings(max_examples=tries(by_day=15, by_night=40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
async def test_lots_lapse_as_if_points_left_one_by_one(pool: Pool, data: st.DataObject) -> None:
    program = f"P{next(_programs)}"
    history = data.draw(histories("bob", program))
    held = data.draw(st.integers(0, max(history.balance, 0)))
    drawn = sum(-move.points - sum(points for _, points in move.draws) for move in history.moves if move.points < 0)
    history = replace(history, held=held, lifetime=True, lots_drawn=drawn)
    await write(pool, [history])
    expected: Counter[str] = Counter()
    if history.balance > 0:
        for seq, points in lots_of(history).items():
            expected[f"{history.moves[seq - 1].expires_on:%Y-%m}"] += points
        expected[HELD] = held
    else:
        expected[OWED] = history.balance
    points_by_month = await of(pool, program)
    assert points_by_month == {lapses: points for lapses, points in expected.items() if points}
    assert sum(points_by_month.values()) == history.balance


async def test_members_are_counted_once_a_month(pool: Pool) -> None:
    twice = [Move("earn", 10, expires_on=JULY), Move("earn", 5, expires_on=JULY)]
    await write(pool, [History("bob", twice, lifetime=True), History("eve", twice[:1], expires_on=JULY)])
    async with snapshot(pool) as connection:
        assert await ageing(connection) == [Due("GRP", "SG", "2026-07", 2, 25, 0)]


@pytest.mark.parametrize("lifetime", [False, True], ids=["by activity", "by lots"])
async def test_points_that_have_not_vested_are_told_apart(pool: Pool, lifetime: bool) -> None:  # noqa: FBT001  # a case
    """They lapse with the others: what is pending now has vested by then."""
    now = datetime.now(UTC)
    ledger, given = PostgresLedger(pool, SystemClock()), award(expires_on=TO_COME, lifetime=lifetime)
    vesting = [(10, None), (25, now + 3 * DAY), (5, now + 9 * DAY), (7, now - DAY)]
    await ledger.post(
        [
            given._replace(
                key=f"txn:rides:{number}", points=points, vests_on=None if at is None else at.date(), vests_at=at
            )
            for number, (points, at) in enumerate(vesting)
        ]
    )
    month = Month.of(TO_COME)
    async with snapshot(pool) as connection:
        assert await ageing(connection) == [Due("GRP", "SG", str(month), 1, 47, 30)]
    assert await preview(pool, "SG", month, with_earlier=False) == [Expected("SG", "GRP", 1, 47, 30)]
