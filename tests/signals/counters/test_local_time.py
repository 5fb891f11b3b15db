"""The hours and days of a zone: whole local ones, and they cover all time."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.signals.counters.decide.local_time import Span, spans_of
from abacus.signals.counters.types import QUARTER_S
from tests.signals.counters.zones import ZONES

zones = st.sampled_from(ZONES).map(ZoneInfo)
quarters = st.integers(0, int(datetime(2040, 1, 1, tzinfo=UTC).timestamp()) // QUARTER_S)


def moments(span: Span) -> tuple[str, str]:
    return tuple(f"{datetime.fromtimestamp(at, UTC):%m-%d %H:%M}" for at in span)  # type: ignore[return-value]  # two


def at(zone: str, moment: str) -> tuple[tuple[str, str], tuple[str, str]]:
    """The hour and the day, in UTC."""
    quarter = int(datetime.fromisoformat(moment).timestamp()) // QUARTER_S
    hour, day = spans_of(ZoneInfo(zone), quarter)
    return moments(hour), moments(day)


# One row a case, in UTC: the moment, its hour, its day.
CASES = [
    ("UTC", "2024-09-24T22:05Z", ("09-24 22:00", "09-24 23:00"), ("09-24 00:00", "09-25 00:00")),
    ("Asia/Kolkata", "2024-09-24T22:05Z", ("09-24 21:30", "09-24 22:30"), ("09-24 18:30", "09-25 18:30")),
    ("Asia/Kathmandu", "2024-09-24T22:05Z", ("09-24 21:15", "09-24 22:15"), ("09-24 18:15", "09-25 18:15")),
    # The clock is put forward: a day of 23 hours.
    ("Europe/Berlin", "2026-03-29T01:00Z", ("03-29 01:00", "03-29 02:00"), ("03-28 23:00", "03-29 22:00")),
    # The clock is put back: an hour that it shows twice is two, of a day of 25.
    ("Europe/Berlin", "2026-10-25T00:30Z", ("10-25 00:00", "10-25 01:00"), ("10-24 22:00", "10-25 23:00")),
    ("Europe/Berlin", "2026-10-25T01:30Z", ("10-25 01:00", "10-25 02:00"), ("10-24 22:00", "10-25 23:00")),
    # By half an hour: an hour begins where the clock is changed, too.
    ("Australia/Lord_Howe", "2026-04-04T14:45Z", ("04-04 14:00", "04-04 15:00"), ("04-04 13:00", "04-05 13:30")),
    ("Australia/Lord_Howe", "2026-04-04T15:15Z", ("04-04 15:00", "04-04 15:30"), ("04-04 13:00", "04-05 13:30")),
    ("Australia/Lord_Howe", "2026-10-03T15:30Z", ("10-03 15:30", "10-03 16:00"), ("10-03 13:30", "10-04 13:00")),
    # Midnight is skipped: the day begins at 01:00.
    ("Africa/Cairo", "2026-04-23T22:00Z", ("04-23 22:00", "04-23 23:00"), ("04-23 22:00", "04-24 21:00")),
    # Midnight stands twice on the clock: the day begins with the first.
    ("America/Havana", "2026-11-01T05:15Z", ("11-01 05:00", "11-01 06:00"), ("11-01 04:00", "11-02 05:00")),
    # A minute after midnight the clock was put back to the evening before: the quarter of the change is after it.
    ("America/St_Johns", "2010-11-07T02:30Z", ("11-07 02:30", "11-07 03:30"), ("11-06 02:30", "11-07 03:30")),
    # 30 December 2011 was skipped.
    ("Pacific/Apia", "2011-12-30T09:59Z", ("12-30 09:00", "12-30 10:00"), ("12-29 10:00", "12-30 10:00")),
    ("Pacific/Apia", "2011-12-30T10:00Z", ("12-30 10:00", "12-30 11:00"), ("12-30 10:00", "12-31 10:00")),
    # 44 minutes and 30 seconds behind UTC until 1972: rounded to half an hour.
    ("Africa/Monrovia", "1971-06-01T00:00Z", ("05-31 23:30", "06-01 00:30"), ("05-31 00:30", "06-01 00:30")),
]


@pytest.mark.parametrize(("zone", "moment", "hour", "day"), CASES)
def test_the_hour_and_the_day(zone: str, moment: str, hour: tuple[str, str], day: tuple[str, str]) -> None:
    assert at(zone, moment) == (hour, day)


@given(zones, quarters)
def test_hours_and_days_cover_all_time_and_each_hour_lies_in_one_day(zone: ZoneInfo, quarter: int) -> None:
    hour, day = spans_of(zone, quarter)
    begin = quarter * QUARTER_S
    assert day.begin <= hour.begin <= begin < begin + QUARTER_S <= hour.end <= day.end
    assert hour.end - hour.begin <= 3600
    for span, place in ((hour, 0), (day, 1)):
        assert not span.begin % QUARTER_S
        assert {spans_of(zone, each)[place] for each in (span.begin // QUARTER_S, span.end // QUARTER_S - 1)} == {span}
        assert spans_of(zone, span.end // QUARTER_S)[place].begin == span.end


@given(zones, st.dates(date(1980, 1, 1), date(2040, 1, 1)))
def test_a_day_begins_where_its_date_does_in_zones_of_whole_quarters(zone: ZoneInfo, day: date) -> None:
    midnight = datetime(day.year, day.month, day.day, tzinfo=zone)
    after = midnight.astimezone(UTC)
    if after.astimezone(zone).date() != day:  # the day was skipped
        return
    begin = datetime.fromtimestamp(spans_of(zone, int(after.timestamp()) // QUARTER_S).day.begin, UTC)
    assert begin.astimezone(zone).date() == day
    assert (begin - timedelta(minutes=16)).astimezone(zone).date() < day
