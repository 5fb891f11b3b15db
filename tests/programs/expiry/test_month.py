"""A month, and the moment at which it is over in a country."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.core.errors import Refused
from abacus.programs.expiry.decide.month import Month

months = st.builds(Month, st.integers(2000, 2098), st.integers(1, 12))


@pytest.mark.parametrize(
    "text", ["2026-7", "2026-13", "2026-00", "07-2026", "2026-07-31", "", "1999-12", "٢026-07", "x"]
)
def test_what_is_no_month(text: str) -> None:
    with pytest.raises(Refused, match="write it as 2026-07"):
        Month.parse(text)


@given(months)
def test_a_month_is_written_and_read(month: Month) -> None:
    assert Month.parse(str(month)) == month


@given(months)
def test_months_follow_each_other(month: Month) -> None:
    assert month.after.before == month
    assert (month.after.first_day - month.last_day).days == 1
    assert month < month.after


@pytest.mark.parametrize(
    ("zone", "over_at"),
    [
        ("Asia/Singapore", datetime(2026, 7, 31, 16, tzinfo=UTC)),
        ("Asia/Jakarta", datetime(2026, 7, 31, 17, tzinfo=UTC)),
        ("America/New_York", datetime(2026, 8, 1, 4, tzinfo=UTC)),
        ("UTC", datetime(2026, 8, 1, tzinfo=UTC)),
    ],
)
def test_it_is_over_by_the_countrys_clock(zone: str, over_at: datetime) -> None:
    july, there = Month(2026, 7), ZoneInfo(zone)
    assert july.over_at(there) == over_at
    just_before = over_at.replace(microsecond=0) - datetime.resolution
    assert (july.is_over(just_before, there), july.is_over(over_at, there)) == (False, True)
    assert (Month.last_over(just_before, there), Month.last_over(over_at, there)) == (Month(2026, 6), july)


def test_the_last_day_of_a_leap_february() -> None:
    assert (Month(2028, 2).last_day, Month(2027, 2).last_day) == (date(2028, 2, 29), date(2027, 2, 28))
