"""What became of the members of a journey, over some days: by node, by arm, and by day."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import ClassVar

from abacus.console.decide.charts import Chart, by_day
from abacus.console.pages.journeys.journey_pages import PAGES
from abacus.console.pages.stated.report_page import days_asked
from abacus.console.web.calls import Call
from abacus.console.web.page import Page
from abacus.console.web.parts import Part
from abacus.engage.campaigns.decide.interval import Interval
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.report import ArmLine, JourneyReport, against_control
from abacus.engage.journeys.desk import JourneyDesk


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


async def report(call: Call) -> JourneyReportPage:
    history = [each.document for each in await PAGES.history(call)]
    name = history[-1].name
    days, form = days_asked(call, call.narrowed("from", "to"))
    return JourneyReportPage(
        title=f"Report of {name}",
        command=f"abacus journeys report {name}" + (f" --from {days[0]} --to {days[1]}" if days else ""),
        name=name,
        found=await call.part(_found(call, history, days)) if days is not None else None,
        form=form,
    )


async def _found(call: Call, history: Sequence[Journey], days: tuple[date, date]) -> Found:
    found = await call.rooms[JourneyDesk].report(history, days, None)
    arms = [Arm(each, each.interval, against_control(each, found.arms)) for each in found.arms]
    return Found(found, arms, _chart(found), history[-1].goal is not None)


def _chart(found: JourneyReport) -> Chart | None:
    counts: dict[str, Counter[date]] = {"entered": Counter(), "left": Counter()}
    for each in found.days:
        counts["entered"][each.day] += each.entered
        counts["left"][each.day] += sum(each.left.values())
    return by_day("By day", "members", counts)
