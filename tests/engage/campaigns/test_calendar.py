"""When a campaign answers to an event, and which day, week and month that is."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from abacus.engage.campaigns.decide.calendar import period_of, runs_at
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
