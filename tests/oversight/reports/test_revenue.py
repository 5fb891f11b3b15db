"""Deferred revenue: the standards' own example, catching up, and bounds that always hold."""

from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.core.errors import Refused
from abacus.oversight.reports.decide.assumption import Assumption, AssumptionBook, Estimate
from abacus.oversight.reports.decide.revenue import Activity, Position, allocate, in_units, position, revenue
from abacus.programs.expiry.decide.month import Month

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PAIR = ("GRP", "SG")
JANUARY, FEBRUARY, MARCH = Month(2026, 1), Month(2026, 2), Month(2026, 3)


def assumed(version: int, since: date, use: str, price: str | None = "0.9") -> Assumption:
    estimate = Estimate("SGD", Decimal(use), allocated_per_point=Decimal(price) if price else None)
    return Assumption(*PAIR, version, since, estimate, NOW, "jane", "test")


def month(which: Month, *, issued: int = 0, used: int = 0, expired: int = 0) -> Activity:
    return Activity(*PAIR, which, issued=issued, used=used, expired=expired)


BOOK = AssumptionBook([assumed(1, date(2026, 1, 1), "0.97"), assumed(2, date(2026, 2, 1), "0.99")])
LIFE = [month(JANUARY, issued=10_000, used=4_500), month(FEBRUARY, used=4_000)]


def test_the_example_of_the_standards() -> None:
    """9,000 allocated to 10,000 points, 97 % expected to be used and 4,500 used; then 99 %, and 8,500 in all."""
    first = revenue(LIFE, PAIR, JANUARY, BOOK, given={}, decimals=0)
    assert [first.allocated, first.expected_used, first.recognised_in_month, first.deferred] == [9000, 9700, 4175, 4825]
    second = revenue(LIFE, PAIR, FEBRUARY, BOOK, given={}, decimals=0)
    assert [second.recognised_before, second.expected_used, second.recognised_in_month] == [4175, 9900, 3552]
    assert [second.recognised, second.deferred, second.assumption] == [7727, 1273, "GRP/SG@2"]
    assert second.of_estimate == -84  # 9,000 × 4,500 / 9,900 is 4,091


def test_the_same_from_an_amount_in_place_of_a_price() -> None:
    book = AssumptionBook([assumed(1, date(2026, 1, 1), "0.97", price=None)])
    report = revenue(LIFE, PAIR, JANUARY, book, given={JANUARY: Decimal(9000)}, decimals=2)
    assert (report.recognised, report.deferred) == (Decimal("4175.26"), Decimal("4824.74"))
    with pytest.raises(Refused, match="--allocated 2026-01=AMOUNT"):
        revenue(LIFE, PAIR, JANUARY, book, given={}, decimals=2)


def test_a_price_does_not_reach_back() -> None:
    book = AssumptionBook([assumed(1, date(2026, 1, 1), "1", "0.5"), assumed(2, date(2026, 2, 1), "1", "2")])
    life = [month(JANUARY, issued=100), month(FEBRUARY, issued=10, used=55)]
    report = revenue(life, PAIR, FEBRUARY, book, given={}, decimals=0)
    assert [report.allocated, report.recognised] == [70, 35]


def test_nothing_is_assumed_yet() -> None:
    book = AssumptionBook([assumed(1, date(2026, 3, 1), "0.97")])
    with pytest.raises(Refused, match="nothing is assumed of GRP in SG by the end of 2026-01"):
        revenue(LIFE, PAIR, MARCH, book, given={}, decimals=0)


@pytest.mark.parametrize(
    ("position", "use", "recognised"),
    [
        (Position(), "0.97", 0),
        (Position(Fraction(100), issued=100, used=0, left=100), "0.5", 0),
        (Position(Fraction(100), issued=100, used=25, left=75), "0.5", 50),
        (Position(Fraction(100), issued=100, used=60, left=40), "0.5", 100),  # more was used than expected
        (Position(Fraction(100), issued=100, used=25, left=25), "0.9", 50),  # half lapsed: at most 50 can be used
        (Position(Fraction(100), issued=100, used=0, left=0), "0.9", 100),  # all lapsed
        (Position(Fraction(100), issued=100, used=-5, left=105), "0.9", 0),  # more was given back than spent
        (Position(Fraction(0), issued=-10, used=0, left=-10), "0.9", 0),  # taken back after the month that earned it
    ],
)
def test_recognised(position: Position, use: str, recognised: int) -> None:
    assert position.recognised(Decimal(use)) == recognised


@given(
    st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 10_000), st.integers(0, 10_000)), min_size=1, max_size=8),
    st.lists(st.integers(1, 100), min_size=8, max_size=8),
    st.integers(0, 3),
)
def test_months_come_to_the_whole(moves: list[tuple[int, int, int]], uses: list[int], decimals: int) -> None:
    """The revenue of the months adds up whatever the estimates do meanwhile, and never exceeds the allocated sum."""
    months = [Month(2026, number) for number in range(1, len(moves) + 1)]
    versions = [
        assumed(n, each.first_day, str(Decimal(use) / 100))
        for n, (each, use) in enumerate(zip(months, uses, strict=False), 1)
    ]
    book, life, left = AssumptionBook(versions), [], 0
    for each, (issued, used, expired) in zip(months, moves, strict=True):
        used = min(used, left + issued)  # noqa: PLW2901  # nobody uses what is not there
        expired = min(expired, left + issued - used)  # noqa: PLW2901  # the same
        left += issued - used - expired
        life.append(month(each, issued=issued, used=used, expired=expired))
    reports = [revenue(life, PAIR, each, book, given={}, decimals=decimals) for each in months]
    assert sum(each.recognised_in_month for each in reports) == reports[-1].recognised
    for before, after in pairwise(reports):
        assert after.recognised_before == before.recognised
    for reported in reports:
        assert 0 <= reported.recognised <= reported.allocated
        assert reported.deferred == reported.allocated - reported.recognised
    if not left:
        assert reports[-1].deferred == 0


@pytest.mark.parametrize(
    ("amount", "decimals", "rounded"),
    [("1/2", 0, "1"), ("-1/2", 0, "-1"), ("5/1000", 2, "0.01"), ("4999/1000000", 2, "0.00"), ("3", 2, "3.00")],
)
def test_rounding_is_half_up(amount: str, decimals: int, rounded: str) -> None:
    assert str(in_units(Fraction(amount), decimals)) == rounded


@pytest.mark.parametrize(
    ("price", "products", "points", "selling", "use", "to_points"),
    [
        ("100000", "100000", 10_000, "1", "0.95", "8676"),  # the example of the standards
        ("100000", "91000", 10_000, "0.9278350515", "0.97", "9000"),
        ("100", "100", 0, "1", "0.95", "0"),
        ("100", "0", 0, "1", "0.95", "0"),
        ("100", "0", 10, "1", "0.95", "100"),
    ],
)
def test_allocation(price: str, products: str, points: int, *, selling: str, use: str, to_points: str) -> None:
    allocation = allocate(
        Decimal(price), Decimal(products), points, selling_price=Decimal(selling), expected_use=Decimal(use), decimals=0
    )
    assert allocation.points == Decimal(to_points)
    assert allocation.products + allocation.points == Decimal(price)


def test_points_of_a_partners_programme_are_issued_without_a_price_and_used_as_they_leave() -> None:
    life = [month(JANUARY, issued=100), Activity(*PAIR, FEBRUARY, exchanged_in=10, exchanged_out=55)]
    sums = position(life, BOOK, {})
    assert (sums.allocated, sums.issued, sums.used, sums.left) == (Fraction(90), 110, 55, 55)
