"""The house's statement of what came in: its day, its sums, and when nothing is added any more."""

from datetime import UTC, date, datetime, timedelta

from abacus.exchanges.decide.inbound_statement import InboundLine, InboundStatement, bounds, is_complete

DAY = date(2026, 11, 28)
AT = datetime(2026, 11, 28, 12, tzinfo=UTC)


def test_a_day_is_one_of_utc() -> None:
    assert bounds(DAY) == (datetime(2026, 11, 28, tzinfo=UTC), datetime(2026, 11, 29, tzinfo=UTC))


def test_a_day_is_complete_some_minutes_after_its_end() -> None:
    end = bounds(DAY)[1]
    assert [is_complete(DAY, end + timedelta(minutes=each)) for each in (-1, 0, 4, 5)] == [False, False, False, True]


def test_sums_are_those_of_the_lines() -> None:
    lines = [InboundLine("T-1", 1000, 1500, AT), InboundLine("T-2", 1100, 1650, AT)]
    statement = InboundStatement("skymiles", DAY, complete=True, lines=lines)
    assert (statement.points, statement.credit) == (2100, 3150)
