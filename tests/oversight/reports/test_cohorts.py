"""The fate of each month's points: the statement against the rule said plainly, and a table of cases."""

import itertools
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from abacus.oversight.reports.cohort_store import cohorts
from abacus.oversight.reports.decide.by import By
from abacus.oversight.reports.decide.cohort import OWED, Cohort
from abacus.oversight.reports.homes import homes
from abacus.platform.postgres import Pool, snapshot
from abacus.pricing.decide.book import CardBook
from tests.oversight.reports.fifo import histories, months_of
from tests.oversight.reports.histories import History, Move, write
from tests.support.tries import tries

NOW = datetime(2027, 1, 1, tzinfo=UTC)
COLUMNS = Cohort._fields[6:]
_programs = itertools.count()


async def of(pool: Pool, program: str, by: Sequence[By] = (), until: datetime | None = None) -> list[Cohort]:
    async with snapshot(pool) as connection:
        where = await homes(connection, CardBook([]), NOW)
        moments = [until] * len(where.countries) if until else where.whenever()
        return [row for row in await cohorts(connection, where, moments, by) if row.program == program]


@pytest.mark.long
@settings(max_examples=tries(by_day=15, by_night=40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
async def test_as_if_points_left_one_by_one(pool: Pool, data: st.DataObject) -> None:
    program = f"P{next(_programs)}"
    members = [data.draw(histories(f"m{number}", program)) for number in range(data.draw(st.integers(1, 6)))]
    await write(pool, members)
    rows = await of(pool, program)
    expected: Counter[tuple[str, str]] = Counter()
    for member in members:
        for key, points in months_of(member).items():
            expected[key] += points
    assert {
        (row.month, column): getattr(row, column) for row in rows for column in COLUMNS if getattr(row, column)
    } == {key: points for key, points in expected.items() if points}
    for row in rows:
        assert row.earned + row.returned + row.added == (
            row.spent + row.expired + row.reversed + row.adjusted + row.outstanding
        )
    assert sum(row.outstanding for row in rows) == sum(member.balance for member in members)


def on(month: int, kind: str, points: int, **more: object) -> Move:
    return Move(kind, points, datetime(2026, month, 10, tzinfo=UTC), **more)  # type: ignore[arg-type]  # a test's table


@pytest.mark.parametrize(
    ("moves", "expected"),
    [
        ([on(1, "earn", 10)], {"2026-01": {"earned": 10, "outstanding": 10}}),
        (
            [on(1, "earn", 10), on(2, "earn", 10), on(3, "spend", -15)],
            {"2026-01": {"earned": 10, "spent": 10}, "2026-02": {"earned": 10, "spent": 5, "outstanding": 5}},
        ),
        (
            [on(1, "exchange_in", 10), on(2, "exchange_out", -6), on(3, "spend", -4)],
            {"2026-01": {"exchanged_in": 10, "exchanged_out": 6, "spent": 4}},
        ),
        (  # taken back from its own lot, though an older one is there
            [on(1, "earn", 10), on(2, "earn", 10), on(3, "reverse", -10, draws=[(2, 10)])],
            {"2026-01": {"earned": 10, "outstanding": 10}, "2026-02": {"earned": 10, "reversed": 10}},
        ),
        (  # a debt, and the points that pay it later
            [on(1, "earn", 10), on(2, "spend", -10), on(3, "reverse", -10), on(4, "earn", 4)],
            {
                "2026-01": {"earned": 10, "spent": 10},
                "2026-04": {"earned": 4, "reversed": 4},
                OWED: {"reversed": 6, "outstanding": -6},
            },
        ),
        (
            [on(1, "earn", 10), on(2, "spend", -10), on(3, "reverse", 10), on(4, "adjust", -3), on(5, "expire", -7)],
            {"2026-01": {"earned": 10, "spent": 10}, "2026-03": {"returned": 10, "adjusted": 3, "expired": 7}},
        ),
    ],
)
async def test_cases(pool: Pool, moves: list[Move], expected: dict[str, dict[str, int]]) -> None:
    await write(pool, [History("bob", moves)])
    assert {
        row.month: {column: getattr(row, column) for column in COLUMNS if getattr(row, column)}
        for row in await of(pool, "GRP")
    } == expected


async def test_by_tier_and_partner_of_the_credit(pool: Pool) -> None:
    moves = [on(1, "earn", 10, tier="gold"), on(1, "earn", 10, partner="acme"), on(2, "spend", -15, partner="other")]
    await write(pool, [History("bob", moves)])
    rows = await of(pool, "GRP", [By.TIER, By.PARTNER])
    assert [(row.tier, row.partner, row.earned, row.spent, row.outstanding) for row in rows] == [
        ("-", "acme", 10, 5, 5),
        ("gold", "-", 10, 10, 0),
    ]


async def test_by_source_of_the_credit(pool: Pool) -> None:
    moves = [on(1, "adjust", 10, under="adjust", source="person:a|b"), on(1, "earn", 10), on(2, "spend", -15)]
    await write(pool, [History("bob", moves)])
    rows = await of(pool, "GRP", [By.PARTNER, By.SOURCE])
    assert [(row.partner, row.source, row.month, row.spent, row.outstanding) for row in rows] == [
        ("-", "person:a|b", "2026-01", 10, 0),
        ("-", "stream", "2026-01", 5, 5),
    ]


async def test_as_of_a_day_nothing_later_is_known(pool: Pool) -> None:
    """The later debit, which took points by name, is not counted either."""
    moves = [on(1, "earn", 10), on(2, "earn", 5), on(3, "reverse", -5, draws=[(2, 5)]), on(4, "spend", -10)]
    await write(pool, [History("bob", moves)])
    rows = await of(pool, "GRP", until=datetime(2026, 3, 1, tzinfo=UTC))
    assert [(row.month, row.earned, row.outstanding) for row in rows] == [("2026-01", 10, 10), ("2026-02", 5, 5)]
