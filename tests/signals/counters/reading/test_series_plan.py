"""The slots of a series."""

from datetime import UTC, datetime
from typing import Final

import pytest

from abacus.signals.counters.decide.catalog import Catalog
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.decide.grid import slot_of
from abacus.signals.counters.decide.keep import DEFAULT_KEEP
from abacus.signals.counters.decide.template import read_template
from abacus.signals.counters.reading.decide.series_plan import SeriesPlan, SeriesPlanner
from abacus.signals.counters.reading.types import NotCounted, SeriesLookup, Why
from abacus.signals.counters.types import Grain

BERLIN: Final = Definition(
    id=1,
    name="rides",
    template=read_template("rides:{city}"),
    on=(("rides", "ride.done"),),
    timezone="Europe/Berlin",
    keep={**DEFAULT_KEEP, Grain.MINUTE: 6 * 3600},
    version=2,
    published_at=datetime(2026, 1, 1, tzinfo=UTC),
    retired_at=datetime(2026, 10, 30, tzinfo=UTC),
)
NOW: Final = "2026-10-26T12:07:30"


def second(text: str) -> int:
    return int(datetime.fromisoformat(f"{text}+00:00").timestamp())


def planned(grain: Grain, begin: str, end: str, *, key: str = "rides:7", now: str = NOW) -> SeriesPlan | NotCounted:
    planner = SeriesPlanner(Catalog([BERLIN], {}), second(now))
    return planner.plan(SeriesLookup(key, second(begin), second(end), grain))


def begins(plan: SeriesPlan | NotCounted) -> tuple[list[str], bool]:
    assert isinstance(plan, SeriesPlan), plan
    return [datetime.fromtimestamp(each, UTC).strftime("%d %H:%M") for each in plan.begins], plan.is_open


@pytest.mark.parametrize(
    ("grain", "begin", "end", "slots", "is_open"),
    [
        # An end that stands at the beginning of a slot leaves the slot out.
        (Grain.QUARTER, "2026-10-26T11:20:00", "2026-10-26T11:45:00", ["26 11:15", "26 11:30"], False),
        (Grain.QUARTER, "2026-10-26T11:50:00", "2026-10-26T12:00:01", ["26 11:45", "26 12:00"], True),
        # What is to come is left out.
        (Grain.MINUTE, "2026-10-26T12:06:10", "2026-10-27T00:00:00", ["26 12:06", "26 12:07"], True),
        (Grain.HOUR, "2026-10-26T11:30:00", "2026-10-26T12:00:00", ["26 11:00"], False),
        (Grain.HOUR, "2026-10-26T13:00:00", "2026-10-26T15:00:00", [], False),
        (Grain.HOUR, "2026-10-26T11:00:00", "2026-10-26T11:00:00", [], False),
        # The clock was put back in the night to Sunday: that day has 25 hours, and two hours show two o'clock.
        (Grain.HOUR, "2026-10-25T00:00:00", "2026-10-25T02:00:00", ["25 00:00", "25 01:00"], False),
        (Grain.DAY, "2026-10-24T12:00:00", "2026-10-26T12:00:00", ["23 22:00", "24 22:00", "25 23:00"], True),
    ],
)
def test_the_slots_that_hold_a_moment_of_the_range(
    grain: Grain, begin: str, end: str, slots: list[str], *, is_open: bool
) -> None:
    assert begins(planned(grain, begin, end)) == (slots, is_open)


def test_a_slot_without_a_sum_is_zero() -> None:
    plan = planned(Grain.MINUTE, "2026-10-26T12:05:00", "2026-10-26T12:08:00")
    assert isinstance(plan, SeriesPlan)
    assert plan.range == ("1.2:rides:7", plan.range.first, plan.range.first + 3)
    assert plan.series({slot_of(Grain.MINUTE, second("2026-10-26T12:06:00")): 9}).values == [0, 9, 0]


@pytest.mark.parametrize(
    ("grain", "begin", "end", "now", "why"),
    [
        # The minute of 06:06 ended at 06:07, and is relied on for six hours more.
        (Grain.MINUTE, "2026-10-26T06:06:59", "2026-10-26T06:10:00", "2026-10-26T12:06:59", None),
        (Grain.MINUTE, "2026-10-26T06:06:59", "2026-10-26T06:10:00", "2026-10-26T12:07:00", Why.BEYOND_KEEP),
        (Grain.MINUTE, "2026-10-26T12:00:00", "2026-10-26T11:00:00", NOW, Why.TO_BEFORE_FROM),
        (Grain.HOUR, "2026-10-29T12:00:00", "2026-10-30T00:00:00", "2026-10-31T00:00:00", None),
        (Grain.HOUR, "2026-10-29T12:00:00", "2026-10-30T01:00:00", "2026-10-31T00:00:00", Why.RETIRED),
        (Grain.DAY, "1969-12-31T00:00:00", "2026-10-26T11:00:00", NOW, Why.INVALID),
        (Grain.HOUR, "2026-08-28T00:00:00", "2026-10-26T11:00:00", NOW, None),
    ],
)
def test_why_a_series_is_not_told(grain: Grain, begin: str, end: str, now: str, why: Why | None) -> None:
    plan = planned(grain, begin, end, now=now)
    assert (plan.why if isinstance(plan, NotCounted) else None) is why


def test_a_key_that_nothing_counts() -> None:
    plan = planned(Grain.DAY, "2026-10-25T00:00:00", "2026-10-26T00:00:00", key="snow")
    assert isinstance(plan, NotCounted)
    assert plan.why is Why.UNKNOWN_KEY
