"""One campaign: a version of it as sentences, what all versions have done, and what may be done to this one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from abacus.console.decide.bars import OVERALL, Bar, Counted, bars_of
from abacus.console.decide.charts import Chart
from abacus.console.errands.types import Order
from abacus.console.pages.campaigns.campaign_calendar import Meets, meets_of
from abacus.console.pages.campaigns.campaign_pages import PAGES
from abacus.console.pages.operations.errands import Done as Asked
from abacus.console.pages.operations.errands import ask, newest
from abacus.console.pages.stated.series_charts import chart_by_day, chart_by_hour
from abacus.console.pages.stated.stated_pages import ShownVersion
from abacus.console.web.calls import Call
from abacus.console.web.page import Page, See
from abacus.console.web.parts import Part
from abacus.core.sources import campaign_source
from abacus.documents.decide.states import State
from abacus.documents.stated import last_approved
from abacus.engage.campaigns.campaign_store import CampaignRecord
from abacus.engage.campaigns.day_sums import ROOM
from abacus.engage.campaigns.decide.campaign import LIMIT_WORDS, Campaign
from abacus.engage.campaigns.decide.interval import Interval, share_interval
from abacus.engage.campaigns.decide.meetings import meetings_of
from abacus.engage.campaigns.decide.run import RunOutcome
from abacus.engage.campaigns.desk import CampaignDesk
from abacus.engage.campaigns.report import ArmLine, DayLine, against_control, used_overall
from abacus.engage.limits.types import MICROS
from abacus.signals.counters.reading.room_sums import key_of

REPORT: Final = "campaign-report"
_BESIDE: Final = 200  # versions of other campaigns


@dataclass(frozen=True)
class Arm:
    """What an arm has done, with intervals at 95 %: of the share that came to the goal, and of its lead."""

    done: ArmLine
    share: Interval | None
    against_control: Interval | None
    cost: float


@dataclass(frozen=True)
class Done:
    """What a campaign has done, by all its versions. The arms are None where only the report counts them."""

    used: Sequence[Bar]
    days: Sequence[DayLine]
    arms: Sequence[Arm] | None
    chart: Chart | None


@dataclass(frozen=True, kw_only=True)
class CampaignPage(Page):
    """A version of one campaign."""

    template: ClassVar[str] = "campaign.html"
    shown: ShownVersion
    segments: Sequence[str]
    done: Part[Done]
    report: Part[Asked | None]
    meets: Part[Meets]
    counted: Part[Chart | None]


async def campaign(call: Call) -> CampaignPage:
    history = await PAGES.history(call)
    record = PAGES.shown(call, history)
    name = record.document.name
    return CampaignPage(
        title=name,
        command=f"abacus campaigns report {name}",
        shown=await PAGES.version(call, history, record),
        segments=record.document.segments,
        done=await call.part(_done(call, history, record)),
        report=await call.part(newest(call, REPORT, name)),
        meets=await call.part(_meets(call, record)),
        counted=await call.part(chart_by_hour(call, campaign_source(name))),
    )


async def ask_report(call: Call) -> See:
    """The whole report: it counts every action, and holds the claims against the ledger."""
    latest = (await PAGES.history(call))[-1].document
    order = Order(REPORT, latest.name, latest.country, ("campaigns", "report", latest.name, "--json"))
    return await ask(call, order, f"/campaigns/{latest.name}")


async def _meets(call: Call, record: CampaignRecord) -> Meets:
    """Campaigns that answer to the same events from now on; none for a version that is over."""
    campaign, now, desk = record.document, call.now, call.rooms[CampaignDesk]
    if record.state(now) is State.ENDED:
        return Meets((), is_whole=True)
    since = max(now, campaign.starts_at)
    beside = await desk.between(since, campaign.ends_at, countries=[campaign.country], limit=_BESIDE)
    met = [each for each in meetings_of(campaign, (other.document for other in beside)) if each.until > now]
    return meets_of(met, is_whole=len(beside) < _BESIDE)


async def _done(call: Call, history: Sequence[CampaignRecord], record: CampaignRecord) -> Done:
    found = await call.rooms[CampaignDesk].glance(record.document)
    bars = bars_of(record.document.limits, LIMIT_WORDS, Counted({OVERALL: used_overall(found)}))
    return Done(
        bars,
        found.days,
        None if found.arms is None else [_arm(each, found.arms) for each in found.arms],
        await _runs(call, last_approved(history), found.days),
    )


async def _runs(call: Call, campaign: Campaign, lines: Sequence[DayLine]) -> Chart | None:
    """The runs of each arm, from the first day to the last, by the clock of the version that was approved last."""
    done = [each for each in lines if each.outcome == RunOutcome.DONE]
    if not done:
        return None
    days = [each.day for each in done]
    arms = sorted({each.variant for each in done})
    keys = {arm or RunOutcome.DONE.value: key_of(ROOM, campaign.name, RunOutcome.DONE, arm) for arm in arms}
    return await chart_by_day(call, "Runs by day", campaign.zone, (min(days), max(days)), keys, unit="runs")


def _arm(line: ArmLine, arms: Sequence[ArmLine]) -> Arm:
    share = share_interval(line.conversions, line.members)
    return Arm(line, share, against_control(line, arms), line.cost / MICROS)
