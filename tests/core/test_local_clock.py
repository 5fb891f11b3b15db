"""Clock times as moments, and quiet hours: by the golden cases, and by what they leave open."""

import json
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.core.local_clock import QuietHours, moment_of

_CASES: Final = json.loads((Path(__file__).parents[1] / "golden" / "waits.json").read_text())["cases"]
_QUIET: Final = [each for each in _CASES if each["quiet_hours"]]
_ZONES: Final = [ZoneInfo(name) for name in ("UTC", "Europe/London", "Asia/Kathmandu", "Pacific/Apia", "America/Lima")]


def _at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


@pytest.mark.parametrize("case", _QUIET, ids=[each["name"] for each in _QUIET])
def test_a_message_waits_for_the_end_of_quiet_hours(case: dict[str, Any]) -> None:
    begins, ends = map(time.fromisoformat, case["quiet_hours"])
    wanted = _at(case["entered"]) + timedelta(hours=case["wait"]["hours"])
    assert QuietHours(begins, ends).over_at(wanted, ZoneInfo(case["zone"])) == _at(case["due"])


@pytest.mark.parametrize(
    ("day", "clock", "zone", "moment"),
    [
        ("2026-03-12", "09:30", "Asia/Singapore", "2026-03-12T01:30:00+00:00"),
        ("2026-03-29", "01:30", "Europe/London", "2026-03-29T01:00:00+00:00"),  # skipped
        ("2026-10-25", "01:30", "Europe/London", "2026-10-25T00:30:00+00:00"),  # twice
        ("2011-12-30", "12:00", "Pacific/Apia", "2011-12-30T10:00:00+00:00"),  # a day that is skipped
    ],
)
def test_the_moment_of_a_clock_time(day: str, clock: str, zone: str, moment: str) -> None:
    assert moment_of(date.fromisoformat(day), time.fromisoformat(clock), ZoneInfo(zone)) == _at(moment)


@pytest.mark.parametrize(
    ("at", "zone", "hours", "end"),
    [
        # The end comes twice: quiet hours are over at the first.
        ("2026-10-25T00:10:00+00:00", "Europe/London", "23:00-01:30", "2026-10-25T00:30:00+00:00"),
        ("2026-10-25T01:10:00+00:00", "Europe/London", "23:00-01:30", "2026-10-25T01:10:00+00:00"),
        # The day of their end is skipped, and the next one begins in quiet hours.
        ("2011-12-30T09:00:00+00:00", "Pacific/Apia", "21:00-08:00", "2011-12-30T18:00:00+00:00"),
    ],
)
def test_quiet_hours_around_a_clock_that_is_set(at: str, zone: str, hours: str, end: str) -> None:
    begins, ends = map(time.fromisoformat, hours.split("-"))
    assert QuietHours(begins, ends).over_at(_at(at), ZoneInfo(zone)) == _at(end)


_CLOCKS: Final = st.integers(0, 24 * 60 - 1).map(lambda minute: time(*divmod(minute, 60)))


@given(
    at=st.datetimes(datetime(2010, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001  # it gets one
    hours=st.lists(_CLOCKS, min_size=2, max_size=2, unique=True),
    zone=st.sampled_from(_ZONES),
)
def test_what_was_put_off_is_not_quiet(at: datetime, hours: list[time], zone: ZoneInfo) -> None:
    quiet = QuietHours(*hours)
    end = quiet.over_at(at, zone)
    assert at <= end < at + timedelta(days=2)
    assert quiet.over_at(end, zone) == end


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        ("21:00-08:00", "22:00-09:00", "21:00-09:00"),
        ("22:00-09:00", "21:00-08:00", "21:00-09:00"),
        ("21:00-08:00", "23:00-07:00", "21:00-08:00"),
        ("23:00-07:00", "21:00-08:00", "21:00-08:00"),
        ("12:00-14:00", "13:00-15:00", "12:00-15:00"),
        ("12:00-14:00", "14:00-15:00", "12:00-15:00"),
        ("21:00-08:00", "12:00-14:00", "21:00-08:00"),
    ],
)
def test_two_quiet_hours_in_one(one: str, other: str, both: str) -> None:
    assert str(_quiet(one).with_(_quiet(other))) == both


def _quiet(text: str) -> QuietHours:
    return QuietHours(*map(time.fromisoformat, text.split("-")))
