"""What became of the members of a journey, over some days: by node, by arm, and by day."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import ClassVar
from zoneinfo import ZoneInfo

from abacus.console.decide.charts import Chart
from abacus.console.pages.journeys.journey_pages import PAGES
from abacus.console.pages.stated.report_page import days_asked
from abacus.console.pages.stated.series_charts import chart_by_day, chart_by_hour
from abacus.console.web.calls import Call
from abacus.console.web.page import Page
from abacus.console.web.parts import Part
from abacus.core.sources import journey_source
from abacus.documents.stated import last_approved
from abacus.engage.campaigns.decide.interval import Interval
from abacus.engage.journeys.day_sums import ROOM
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.report import ArmLine, JourneyReport, against_control
from abacus.engage.journeys.decide.ways import Outcome
from abacus.engage.journeys.desk import JourneyDesk
from abacus.engage.journeys.journey_store import JourneyRecord
from abacus.signals.counters.reading.room_sums import key_of


@dataclass(frozen=True)
class Arm:
    """An arm, with intervals at 95 %: of the share that came to the goal, and of its lead."""

    done: ArmLine
    share: Interval | None
    against_control: Interval | None


@dataclass(frozen=True)
class Found:
    """All versions together; `has_goal` is of the newest."""

    report: JourneyReport
    arms: Sequence[Arm]
    chart: Chart | None
    has_goal: bool


@dataclass(frozen=True, kw_only=True)
class JourneyReportPage(Page):
    """Without anything read where a day is wrong."""

    template: ClassVar[str] = "journey_report.html"
    name: str
    found: Part[Found] | None
    counted: Part[Chart | None]


async def report(call: Call) -> JourneyReportPage:
    history = await PAGES.history(call)
    name = history[-1].document.name
    days, form = days_asked(call, call.narrowed("from", "to"))
    return JourneyReportPage(
        title=f"Report of {name}",
        command=f"abacus journeys report {name}" + (f" --from {days[0]} --to {days[1]}" if days else ""),
        name=name,
        found=await call.part(_found(call, history, days)) if days is not None else None,
        counted=await call.part(chart_by_hour(call, journey_source(name))),
        form=form,
    )


async def _found(call: Call, history: Sequence[JourneyRecord], days: tuple[date, date]) -> Found:
    newest, zone = history[-1].document, last_approved(history).zone
    found = await call.rooms[JourneyDesk].report([each.document for each in history], days, None)
    arms = [Arm(each, each.interval, against_control(each, found.arms)) for each in found.arms]
    return Found(found, arms, await _chart(call, newest, zone, days), newest.goal is not None)


async def _chart(call: Call, journey: Journey, zone: ZoneInfo, days: tuple[date, date]) -> Chart | None:
    told = [Outcome.ENTERED, Outcome.LEFT, *([Outcome.CONVERTED] if journey.goal is not None else [])]
    keys = {each.value: key_of(ROOM, journey.name, each) for each in told}
    return await chart_by_day(call, "By day", zone, days, keys, unit="members")
