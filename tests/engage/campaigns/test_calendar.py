"""When a campaign answers to an event, and which day, week and month that is."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from abacus.documents.decide.heading import runs_at
from abacus.documents.decide.states import Status
from abacus.engage.campaigns.decide.calendar import over_its_time, period_of
from abacus.engage.campaigns.decide.campaign import Period
from tests.engage.campaigns.offers import NOW, campaign

HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("changes", "after", "runs"),
    [
        ({}, 0 * HOUR, True),
        ({}, -37 * HOUR, False),  # before it starts
        ({"ends_at": "2026-03-02T13:00:00+08:00"}, 1 * HOUR, False),  # the end does not belong to it
        ({"weekdays": ["mon"]}, 0 * HOUR, True),
        ({"weekdays": ["mon"]}, 12 * HOUR, False),  # it is Tuesday in Singapore
        ({"hours": ["09:00-12:00"]}, 0 * HOUR, False),
        ({"hours": ["09:00-12:00"]}, -1 * HOUR, True),
        ({"hours": ["09:00-10:00", "12:00-24:00"]}, 11 * HOUR, True),
    ],
)
def test_it_runs(changes: dict[str, Any], after: timedelta, *, runs: bool) -> None:
    assert runs_at(campaign(**changes), NOW + after) is runs


def test_nothing_before_the_approval() -> None:
    approved = replace(campaign(), approved_at=NOW)
    assert runs_at(approved, NOW)
    assert not runs_at(approved, NOW - timedelta(seconds=1))


# It starts at hour -36, was approved and changed so many hours after noon, and ends a month later.
@pytest.mark.parametrize(
    ("status", "approved", "changed", "now", "runs"),
    [
        (Status.SUBMITTED, None, 0, 1, (-36, 708)),
        (Status.APPROVED, -40, -40, 1, (-36, 708)),
        (Status.APPROVED, 0, 0, 1, (0, 708)),  # nothing before the approval
        (Status.PAUSED, 0, 2, 3, (0, 708)),  # it may go on
        (Status.PAUSED, 0, 2, 708, (0, 2)),  # it cannot any more
        (Status.EXHAUSTED, 0, 2, 3, (0, 2)),
        (Status.ENDED, -40, 2, 3, (-36, 2)),
        (Status.ENDED, -40, 800, 801, (-36, 708)),
        (Status.ENDED, -40, -38, 3, None),  # before it began
    ],
)
def test_the_time_of_a_version(
    status: Status, approved: int | None, changed: int, now: int, runs: tuple[int, int] | None
) -> None:
    version = campaign() if approved is None else replace(campaign(), approved_at=NOW + approved * HOUR)
    over = over_its_time(version, status, NOW + changed * HOUR, NOW + now * HOUR)
    assert (None if over is None else ((over.starts_at - NOW) / HOUR, (over.ends_at - NOW) / HOUR)) == runs


@pytest.mark.parametrize(
    ("period", "name"),
    [
        (Period.CAMPAIGN, ""),
        (Period.DAY, "2026-01-01"),
        (Period.WEEK, "2026-W01"),
        (Period.MONTH, "2026-01"),
    ],
)
def test_periods_are_those_of_the_zone(period: Period, name: str) -> None:
    """It is the new year in Singapore already."""
    assert period_of(campaign(), period, datetime(2025, 12, 31, 17, tzinfo=UTC)) == name
