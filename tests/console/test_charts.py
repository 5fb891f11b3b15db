"""A chart says the same as its table and its legend, whatever draws it."""

from datetime import UTC, date, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from abacus.console.decide.charts import Along, Chart, Line, Row, Threshold, midnight, of_days, runs_by_day
from abacus.console.decide.waits import RELAY, Reading, charts_of
from abacus.signals.counters.reading.types import Series
from abacus.signals.counters.types import Grain

DAY = 86400
JUNE = midnight(date(2026, 6, 1))


@pytest.mark.parametrize(
    ("along", "step", "bars"),
    [
        (Along.DAYS, DAY, True),
        (Along.MONTHS, 30 * DAY, True),
        (Along.MOMENTS, 3600, False),
        (Along.MOMENTS, DAY, True),
    ],
)
def test_days_and_months_are_bars_and_what_is_continuous_is_a_line(along: Along, step: int, *, bars: bool) -> None:
    assert Chart("points", along, [JUNE, JUNE + step], [Line("points", [1, 2])]).has_bars == bars


def test_a_single_day_is_a_bar_and_a_single_moment_a_point() -> None:
    assert [Chart("", along, [JUNE], [Line("", [1])]).has_bars for along in Along] == [False, True, True]


def test_the_table_and_the_legend_say_what_is_known() -> None:
    lines = [Line("a", [1234567, None, None]), Line("b", [0.5, Decimal("12.50"), None])]
    chart = Chart("both", Along.DAYS, [JUNE, JUNE + DAY, JUNE + 2 * DAY], lines, thresholds=[Threshold("alert", 30.0)])
    assert chart.columns == ["day", "#a", "#b"]
    assert chart.rows == [
        Row(datetime(2026, 6, 2, tzinfo=UTC), ["–", "12.50"]),
        Row(datetime(2026, 6, 1, tzinfo=UTC), ["1,234,567", "0.5"]),
    ]
    assert [each.latest for each in lines] == ["1,234,567", "12.50"]
    assert chart.thresholds[0].said == "30"


@pytest.mark.parametrize(
    ("along", "zone"), [(Along.MOMENTS, "Asia/Singapore"), (Along.DAYS, "UTC"), (Along.MONTHS, "UTC")]
)
def test_moments_have_the_zone_of_the_reader_and_days_none(along: Along, zone: str) -> None:
    drawn = Chart("", along, [JUNE], [Line("", [Decimal("0.10")])]).drawn("Asia/Singapore")
    assert (drawn["zone"], drawn["lines"]) == (zone, [[0.1]])


def test_runs_are_counted_for_each_day_also_without_any() -> None:
    runs = [(date(2026, 6, 3), "b", "done", 2), (date(2026, 6, 1), "a", "done", 1), (date(2026, 6, 9), "a", "held", 5)]
    chart = runs_by_day(runs)
    assert chart is not None
    assert chart.lines == [Line("a", [1, 0, 0]), Line("b", [0, 0, 2])]
    assert runs_by_day(runs[2:]) is None


def test_series_of_days_are_drawn_by_the_days_of_their_clock() -> None:
    zone = ZoneInfo("Asia/Singapore")
    begins = [JUNE - 8 * 3600, JUNE + 16 * 3600]
    series = {name: Series(Grain.DAY, begins, units, 0, is_open=True) for name, units in (("a", [1, 0]), ("b", [0, 0]))}
    chart = of_days("both", "runs", zone, series)
    assert chart == Chart(
        "both", Along.DAYS, [JUNE, JUNE + DAY], [Line("a", [1, 0]), Line("b", [0, 0])], "runs", is_open=True
    )
    assert of_days("none", "runs", zone, {"b": series["b"]}) is None
    assert of_days("none", "runs", zone, {}) is None


def test_what_waits_is_drawn_with_the_line_of_its_alert() -> None:
    moments = [datetime(2026, 6, 1, 12, minute, tzinfo=UTC) for minute in (0, 1, 2)]
    readings = [
        Reading(moments[0], {}),
        Reading(moments[1], {"award": 30.0, RELAY: 0.0}),
        Reading(moments[2], {RELAY: 9.0}),
    ]
    award, relay = charts_of(readings)
    assert (award.lines[0].values, award.thresholds[0].value) == ([None, 30.0, None], 3600)
    assert (relay.lines[0].values, relay.thresholds[0].value) == ([None, 0.0, 9.0], 300)
    assert charts_of(readings[1:2]) == ()
