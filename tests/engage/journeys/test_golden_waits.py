"""The known answers: when a wait is over. And what holds of every wait."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, time, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from abacus.core.local_clock import QuietHours
from abacus.documents.decide.heading import WEEKDAYS
from abacus.engage.journeys.decide.moments import After, NextClock, OfContext, Span, Until
from abacus.engage.journeys.decide.waits import over_at, shifted, zone_of
from tests.support.paths import GOLDEN

CASES: Final = json.loads((GOLDEN / "waits.json").read_text("utf-8"))["cases"]
LONDON: Final = ZoneInfo("Europe/London")
SINGAPORE: Final = ZoneInfo("Asia/Singapore")
NOON: Final = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)

_ZONES: Final = st.sampled_from(
    ["Asia/Singapore", "Asia/Kathmandu", "Europe/London", "America/Santiago", "Australia/Lord_Howe", "Pacific/Apia"]
).map(ZoneInfo)
_MOMENTS: Final = st.datetimes(datetime(2011, 1, 1), datetime(2030, 1, 1)).map(lambda at: at.replace(tzinfo=UTC))  # noqa: DTZ001  # the zone comes behind
_CLOCKS: Final = st.builds(time, st.integers(0, 23), st.integers(0, 59))


def _until(wait: Mapping[str, Any]) -> Until:
    if "at" in wait:
        weekday = WEEKDAYS.index(wait["weekday"]) if "weekday" in wait else None
        return NextClock(time.fromisoformat(wait["at"]), weekday)
    return After(Span(wait.get("days", 0), timedelta(hours=wait.get("hours", 0))))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_golden(case: Mapping[str, Any]) -> None:
    zone = ZoneInfo(case["zone"])
    quiet = QuietHours(*map(time.fromisoformat, case["quiet_hours"])) if case["quiet_hours"] else None
    over = over_at(_until(case["wait"]), datetime.fromisoformat(case["entered"]), zone, {})
    assert (over if quiet is None else quiet.over_at(over, zone)).isoformat() == case["due"]


@pytest.mark.parametrize(
    ("field", "over"),
    [
        (OfContext("flies_at"), "2026-03-30T09:00:00+00:00"),
        (OfContext("flies_at", Span(elapsed=timedelta(hours=24))), "2026-03-31T09:00:00+00:00"),
        (OfContext("flies_at", Span(elapsed=timedelta(hours=48)), before=True), "2026-03-28T09:00:00+00:00"),
        (OfContext("flies_at", Span(2), before=True), "2026-03-28T10:00:00+00:00"),
    ],
    ids=["itself", "a day of hours later", "hours before", "calendar days before, over a clock set forward"],
)
def test_a_moment_of_the_context(field: OfContext, over: str) -> None:
    context = {"flies_at": datetime(2026, 3, 30, 10, 0, tzinfo=LONDON)}
    assert over_at(field, NOON, LONDON, context).isoformat() == over


def test_a_moment_that_is_no_time_is_told() -> None:
    with pytest.raises(TypeError, match=r"context\.flies_at is no time"):
        over_at(OfContext("flies_at"), NOON, LONDON, {"flies_at": "soon"})


@pytest.mark.parametrize(
    ("named", "member", "zone"),
    [
        ("member", LONDON, LONDON),
        ("member", None, SINGAPORE),
        ("country", LONDON, SINGAPORE),
        ("Asia/Kathmandu", LONDON, ZoneInfo("Asia/Kathmandu")),
    ],
)
def test_whose_zone(named: str, member: ZoneInfo | None, zone: ZoneInfo) -> None:
    assert zone_of(named, member=member, country=SINGAPORE) is zone


@given(_MOMENTS, _CLOCKS, st.none() | st.integers(0, 6), _ZONES)
def test_a_clock_time_is_the_next_one(entered: datetime, clock: time, weekday: int | None, zone: ZoneInfo) -> None:
    """It lies behind the entry, shows the clock time or is the end of a gap that holds it, and no day before has it."""
    over = over_at(NextClock(clock, weekday), entered, zone, {})
    assert over > entered
    local = over.astimezone(zone)
    skipped = (over - timedelta(seconds=1)).astimezone(zone).utcoffset() != local.utcoffset()
    assert local.time() == clock or skipped
    assert weekday in {None, local.weekday()} or skipped
    assert over - entered <= timedelta(days=1 if weekday is None else 7) + timedelta(days=1, hours=2)


@given(_MOMENTS, _CLOCKS, _CLOCKS, _ZONES)
@example(datetime(2026, 10, 25, 1, 10, tzinfo=UTC), time(23), time(1, 30), LONDON)  # the second 01:10 of that night
def test_quiet_hours_end_behind_the_moment(moment: datetime, begin: time, end: time, zone: ZoneInfo) -> None:
    """A moment that is put off comes later, to the end of the hours; another stays where it is."""
    if begin == end:
        return
    quiet = QuietHours(begin, end)
    later = quiet.over_at(moment, zone)
    assert later >= moment
    assert quiet.over_at(later, zone) == later
    if later > moment:
        local = later.astimezone(zone)
        skipped = (later - timedelta(seconds=1)).astimezone(zone).utcoffset() != local.utcoffset()
        assert local.time() == end or skipped


@given(_MOMENTS, st.integers(1, 400), _ZONES)
def test_hours_are_elapsed_time(entered: datetime, hours: int, zone: ZoneInfo) -> None:
    assert shifted(entered, Span(elapsed=timedelta(hours=hours)), zone) - entered == timedelta(hours=hours)
