"""Points: today against the same day last week, and by time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar, Final
from zoneinfo import ZoneInfo

from abacus.console.decide.charts import Along, Chart, Line, Threshold
from abacus.console.web.calls import Call
from abacus.console.web.home_card import HomeCard
from abacus.console.web.page import Page
from abacus.console.web.parts import Part
from abacus.intake.pulse.decide.days import WEEK, Day, day_of
from abacus.intake.pulse.decide.steps import Beat, Range, beats
from abacus.intake.pulse.store import PulseStore
from abacus.intake.pulse.types import Step
from abacus.oversight.status.decide.alert_levels import ALERT_LEVELS, TIME_TO_POINTS
from abacus.people.types.deed import Deed
from abacus.people.types.person import Role

_DAY: Final = timedelta(days=1)
_SLOW: Final = (Threshold("an alert begins, 99 % within", ALERT_LEVELS[TIME_TO_POINTS]),)


@dataclass(frozen=True)
class Today:
    """The day of the person's zone. `last_at`: when points came last; None where none are known."""

    day: Day
    weekday: str
    last_at: datetime | None

    @property
    def chart(self) -> Chart:
        """Points by the hour, today and a week before."""
        hours = self.day.hours
        lines = [
            Line("today", [each.points for each in hours]),
            Line(f"last {self.weekday}", [each.before for each in hours]),
        ]
        return Chart("Points by the hour", Along.MOMENTS, [int(each.since.timestamp()) for each in hours], lines)


@dataclass(frozen=True)
class Pulse:
    """The steps of the range, the last of which is under way."""

    range: Range
    beats: Sequence[Beat]

    @property
    def charts(self) -> Sequence[Chart]:
        """How many points came, and how long they took."""
        times = [int(each.since.timestamp()) for each in self.beats]
        half, nearly_all = [each.half_s for each in self.beats], [each.nearly_all_s for each in self.beats]
        points = [Line("points", [each.points for each in self.beats])]
        took = [Line("half within", half), Line("99 % within", nearly_all)]
        return (
            Chart("Points a minute", Along.MOMENTS, times, points),
            Chart("From a transaction to its points", Along.MOMENTS, times, took, "seconds", _SLOW, is_log=True),
        )

    @property
    def has_posted(self) -> bool:
        return any(each.awards for each in self.beats)


@dataclass(frozen=True, kw_only=True)
class PulsePage(Page):
    """Of the countries that the person sees; an hour, unless another range is asked for."""

    template: ClassVar[str] = "pulse.html"
    pulse: Part[Pulse]
    range: Range
    ranges: Sequence[Range] = tuple(Range)


async def pulse(call: Call) -> PulsePage:
    asked = call.asked("range")
    range_ = Range(asked) if asked in set(Range) else Range.HOUR

    async def read() -> Pulse:
        store, countries = PulseStore(call.reading.pool), call.countries(Deed.SEE)
        sums = await store.since(range_.step, range_.begins(call.now), countries)
        return Pulse(range_, beats(sums, range_, call.now))

    command = f"abacus pulse --range {range_}"
    return PulsePage(title="Points by time", command=command, pulse=await call.part(read()), range=range_)


async def _today(call: Call) -> Today:
    store, countries = PulseStore(call.reading.pool), call.countries(Deed.SEE)
    midnight = call.now.astimezone(ZoneInfo(call.session.zone)).replace(hour=0, minute=0, second=0, microsecond=0)
    today = await store.since(Step.QUARTER, midnight, countries)
    before = await store.since(Step.QUARTER, midnight - WEEK, countries, end=midnight - WEEK + _DAY)
    last = max((each.since for each in today), default=None) or await store.last(countries)
    return Today(day_of(today, before, midnight, call.now), f"{midnight:%A}", last)


CARD: Final = HomeCard(
    "points", "Points today", "home/points.html", _today, {Role.FINANCE: 2, Role.COUNTRY_EDITOR: 2}, usual=5
)
