"""Months beside each other: each is what its own rollforward and its own liability say."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from abacus.oversight.reports.accounts import balances
from abacus.oversight.reports.decide.assumption import Assumption, AssumptionBook, Estimate
from abacus.oversight.reports.decide.by import By
from abacus.oversight.reports.decide.liability import liability
from abacus.oversight.reports.decide.months import MonthRow, Moved, by_month
from abacus.oversight.reports.decide.rollforward import SIGNS
from abacus.oversight.reports.homes import homes
from abacus.oversight.reports.months import moved
from abacus.oversight.reports.movements import rollforward
from abacus.platform.postgres import Pool, snapshot
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import PublishedCard
from abacus.programs.expiry.decide.month import Month
from tests.oversight.month import write_month
from tests.support.cards import INDONESIA, SINGAPORE

NOW = datetime(2026, 9, 10, tzinfo=UTC)
CARDS = CardBook([PublishedCard(SINGAPORE, 7), PublishedCard(INDONESIA, 1)])
ESTIMATE = Estimate("SGD", Decimal("0.97"), cost_per_point=Decimal("0.008"))
DEARER = Estimate("SGD", Decimal("0.5"), cost_per_point=Decimal("0.01"))
ASSUMED = AssumptionBook(
    Assumption("GRP", "SG", number, since, estimate, NOW, "jane", "a study")
    for number, since, estimate in ((1, date(2026, 1, 1), ESTIMATE), (2, date(2026, 7, 31), DEARER))
)
MONTHS = [Month(2026, number) for number in (5, 6, 7, 8)]


async def test_each_month_is_what_its_own_reports_say(pool: Pool) -> None:
    await write_month(pool)
    async with snapshot(pool) as connection:
        where = await homes(connection, CARDS, NOW)
        rows = by_month(await moved(connection, where, MONTHS[-1]), MONTHS[-1], 12, ASSUMED, decimals=2)
        assert {row.month for row in rows} == set(map(str, MONTHS))
        for month in MONTHS:
            books = await rollforward(connection, where, month, frozenset({By.COUNTRY}))
            held = await balances(connection, where, where.end(month.last_day))
            these = [row for row in rows if row.month == str(month)]
            assert [(row.program, row.country, *row[3:12]) for row in these] == [
                (each.program, each.country, *each[5:]) for each in books.movements
            ]
            known = {(row.program, row.country): (row.outstanding, row.liability, row.assumption) for row in these}
            costs = liability(held, ASSUMED, month.last_day, 2)
            assert known == {
                (each.program, each.country): (each.outstanding, each.liability, each.assumption) for each in costs
            }
        assert any(row.liability for row in rows)


def moved_in(month: int, issued: int, outstanding: int | None = None, program: str = "GRP") -> Moved:
    held = issued if outstanding is None else outstanding
    moved = {**dict.fromkeys(SIGNS, 0), "issued": issued}
    return Moved(program, "SG", Month(2026, month), **moved, outstanding=held)


@pytest.mark.parametrize(
    ("given", "number", "rows"),
    [
        ([], 3, []),
        ([moved_in(2, 5)], 2, [("2026-02", 0, 5, 5), ("2026-03", 5, 5, 5)]),
        ([moved_in(1, 5), moved_in(3, 2)], 2, [("2026-02", 5, 5, 5), ("2026-03", 5, 7, 7)]),
        ([moved_in(1, 5), moved_in(3, 2)], 1, [("2026-03", 5, 7, 7)]),
        ([moved_in(3, -4, outstanding=0)], 12, [("2026-03", 0, -4, 0)]),
    ],
)
def test_months_without_movement_keep_what_was_held(
    given: list[Moved], number: int, rows: list[tuple[str, int, int, int]]
) -> None:
    found = by_month(given, Month(2026, 3), number, ASSUMED, decimals=2)
    assert [(row.month, row.opening, row.closing, row.outstanding) for row in found] == rows


def test_the_cost_is_that_of_the_months_last_day() -> None:
    rows = by_month([moved_in(6, 1000)], Month(2026, 7), 12, ASSUMED, decimals=2)
    assert [(row.month, row.liability, row.assumption) for row in rows] == [
        ("2026-06", Decimal("7.76"), "GRP/SG@1"),
        ("2026-07", Decimal("5.00"), "GRP/SG@2"),
    ]
    (unknown,) = by_month([moved_in(7, 1000, program="OVO")], Month(2026, 7), 12, ASSUMED, decimals=2)
    assert unknown[-3:] == (None, None, None)
    assert MonthRow._fields[-3:] == ("liability", "currency", "assumption")
