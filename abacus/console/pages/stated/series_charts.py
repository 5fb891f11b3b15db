"""Charts of what campaigns and journeys do: by the days of their clock, and by the hour as counters have it."""

from collections.abc import Mapping
from datetime import date, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from abacus.console.decide.charts import Chart, of_days, of_series
from abacus.console.web.calls import Call
from abacus.core.errors import Absent
from abacus.core.local_clock import moment_of
from abacus.signals.counters.reading.types import SeriesLookup
from abacus.signals.counters.types import Grain

_HOURS: Final = timedelta(days=2)
_YEAR: Final = timedelta(days=365)


async def chart_by_day(
    call: Call, title: str, zone: ZoneInfo, days: tuple[date, date], keys: Mapping[str, str], *, unit: str
) -> Chart | None:
    """A line for each key, by its label, over days of the zone, both included, the last year of them; None where
    nothing happened.
    """
    since, until = max(days[0], days[1] - _YEAR), days[1] + timedelta(days=1)
    begin, end = (int(moment_of(each, time.min, zone).timestamp()) for each in (since, until))
    try:
        told = await call.reading.counters.series([SeriesLookup(key, begin, end, Grain.DAY) for key in keys.values()])
    except Absent:  # what is read may be a moment behind
        return None
    return of_days(title, unit, zone, dict(zip(keys, told, strict=True)))


async def chart_by_hour(call: Call, source: str) -> Chart | None:
    """What counters of points by their source have of the last two days; None where there is no such counter."""
    begin, end = (int(each.timestamp()) for each in (call.now - _HOURS, call.now))
    series = await call.reading.counters.points_of(source, begin, end + 1, Grain.HOUR)
    return of_series("By the hour, as counters have it", series) if series else None
