"""Points are good to the last day of the Nth month after the transaction, by the country's own calendar."""

import json
from calendar import monthrange
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from abacus.programs.expiry.decide.month import last_good_day
from tests.support.paths import GOLDEN

CASES = json.loads((GOLDEN / "expiry.json").read_text("utf-8"))

ZONES = [
    ZoneInfo(name)
    for name in ("Asia/Singapore", "Asia/Kathmandu", "Pacific/Kiritimati", "Pacific/Pago_Pago", "Europe/Berlin", "UTC")
]
# The moments that a message may name (`validation.Moment`), and the months that a card may name (1 to 60).
EARLIEST, LATEST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2099, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
moments = st.datetimes(
    EARLIEST.replace(tzinfo=None),
    LATEST.replace(tzinfo=None),
    timezones=st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes))),
).filter(lambda at: EARLIEST <= at <= LATEST)
months = st.integers(1, 60)


@pytest.mark.parametrize("row", [pytest.param(row, id=row["name"]) for row in CASES])
def test_golden(row: dict[str, Any]) -> None:
    at = datetime.fromisoformat(row["occurred_at"])
    assert last_good_day(at, ZoneInfo(row["timezone"]), row["expiry_months"]).isoformat() == row["expires_on"]


@pytest.mark.parametrize(
    ("occurred_at", "zone", "months_later", "outcome"),
    [
        ("2026-12-31T23:59:59+00:00", "UTC", 1, date(2027, 1, 31)),
        ("2026-12-31T16:00:00+00:00", "Asia/Singapore", 1, date(2027, 2, 28)),
        ("2026-01-01T00:00:00+00:00", "UTC", 11, date(2026, 12, 31)),
        ("2026-01-01T00:00:00+00:00", "UTC", 12, date(2027, 1, 31)),
        ("2099-08-31T00:00:00+00:00", "UTC", 6, date(2100, 2, 28)),
        ("1999-12-31T23:59:59-14:00", "Pacific/Kiritimati", 1, date(2000, 2, 29)),
        ("2099-12-31T23:59:59.999999+00:00", "Pacific/Kiritimati", 60, date(2105, 1, 31)),
    ],
)
def test_edges(occurred_at: str, zone: str, months_later: int, outcome: date) -> None:
    assert last_good_day(datetime.fromisoformat(occurred_at), ZoneInfo(zone), months_later) == outcome


@given(moments, st.sampled_from(ZONES), months)
@example(LATEST, ZONES[2], 60)
@settings(deadline=None)
def test_it_is_the_end_of_the_nth_month_where_it_took_place(at: datetime, zone: ZoneInfo, later: int) -> None:
    local, day = at.astimezone(zone), last_good_day(at, zone, later)
    assert (day.year - local.year) * 12 + day.month - local.month == later
    assert day.day == monthrange(day.year, day.month)[1]
    assert day < date(2110, 1, 1), "later than an award on the queue may say"


@given(moments, st.sampled_from(ZONES), months)
@settings(deadline=None)
def test_how_the_time_is_written_does_not_matter(at: datetime, zone: ZoneInfo, later: int) -> None:
    assert {last_good_day(at.astimezone(other), zone, later) for other in ZONES} == {last_good_day(at, zone, later)}


@given(moments, moments, st.sampled_from(ZONES), months)
@settings(deadline=None)
def test_a_later_transaction_never_expires_earlier(one: datetime, other: datetime, zone: ZoneInfo, later: int) -> None:
    first, last = sorted((one, other))
    assert last_good_day(first, zone, later) <= last_good_day(last, zone, later)
