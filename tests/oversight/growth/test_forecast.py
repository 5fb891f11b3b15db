"""When the disk is full: one row a case."""

from datetime import date, timedelta

import pytest
import yaml

from abacus.oversight.growth.decide.forecast import WARNS_WITHIN, forecast, forecast_of_last
from abacus.oversight.growth.types import DATABASE, SizeOfDay, Sizes, TableGrowth
from tests.support.paths import DOCS

TODAY = date(2026, 11, 28)
GB = 1_000_000_000


def noted(**days_ago: int) -> list[SizeOfDay]:
    """The size of the database on days ago, in GB: `d7=40`."""
    return [SizeOfDay(TODAY - timedelta(days=int(ago[1:])), DATABASE, size * GB) for ago, size in days_ago.items()]


@pytest.mark.parametrize(
    ("past", "size", "disk", "a_day", "left"),
    [
        ({}, 100, 1000, None, None),  # the first day
        ({"d0": 90}, 100, 1000, None, None),  # an hour is no rate
        ({"d1": 90}, 100, 1000, 10, 90),
        ({"d30": 70, "d1": 99}, 100, 1000, 1, 900),
        ({"d31": 7, "d10": 80}, 100, 1000, 2, 450),  # older than thirty days
        ({"d10": 80}, 100, None, 2, None),  # nobody told
        ({"d10": 100}, 100, 1000, 0, None),
        ({"d10": 120}, 100, 1000, -2, None),  # it shrinks
        ({"d10": 80}, 999, 1000, 91.9, 0),
        ({}, 1000, 1000, None, 0),  # it is full
        ({"d10": 80}, 100, 10_000_000, 2, None),  # later than anybody plans
    ],
)
def test_the_day_on_which_the_disk_is_full(
    past: dict[str, int], size: int, disk: int | None, a_day: float | None, left: int | None
) -> None:
    seen = forecast(Sizes(size * GB, {}), noted(**past), TODAY, None if disk is None else disk * GB)
    assert (seen.a_day, seen.days_left) == (None if a_day is None else a_day * GB, left)
    assert seen.full_on == (None if left is None else TODAY + timedelta(days=left))


def test_the_largest_tables_come_first_and_a_new_one_grew_by_all_it_has() -> None:
    before = TODAY - timedelta(days=10)
    past = [SizeOfDay(before, DATABASE, 100), SizeOfDay(before, "transfer", 600), SizeOfDay(before, "action", 90)]
    tables = {"action": 40, "claim": 50, "transfer": 700}
    assert forecast(Sizes(1000, tables), past, TODAY, None).largest == (
        TableGrowth("transfer", 700, 10),
        TableGrowth("claim", 50, 5),
        TableGrowth("action", 40, -5),
    )


def test_what_was_noted_last_is_told_as_of_that_day() -> None:
    seen = forecast_of_last(noted(d12=80, d2=100), 200 * GB)
    assert seen is not None
    assert (seen.bytes, seen.a_day, seen.full_on) == (100 * GB, 2 * GB, TODAY + timedelta(days=48))
    assert forecast_of_last([], GB) is None


def test_the_alert_begins_where_status_does() -> None:
    rules = yaml.safe_load((DOCS / "operate/monitoring/alerts.yaml").read_text(encoding="utf-8"))
    [rule] = [each for group in rules["groups"] for each in group["rules"] if each["alert"] == "AbacusDiskFull"]
    assert rule["expr"].endswith(f" < {timedelta(days=WARNS_WITHIN).total_seconds():.0f}")
