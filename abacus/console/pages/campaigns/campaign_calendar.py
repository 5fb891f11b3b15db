"""The calendar of campaigns: what runs when in each country, and where campaigns meet."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import ClassVar, Final
from zoneinfo import ZoneInfo

from abacus.console.decide.campaign_calendar import By, Cell, Column, beside, cells_of, columns_of, span_of
from abacus.console.pages.campaigns.campaign_list import CampaignRow, row_of
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.page import Page
from abacus.engage.campaigns.decide.meetings import Meeting, meetings
from abacus.engage.campaigns.desk import CampaignDesk
from abacus.people.types.deed import Deed

_MOST: Final = 80  # versions
_ZONES_APART: Final = timedelta(days=1)  # a day begins somewhere up to so much earlier or later
_FIRST, _LAST = date(2000, 1, 1), date(2100, 1, 1)


@dataclass(frozen=True)
class CalendarRow:
    """A version, and what it does in each column."""

    campaign: CampaignRow
    cells: Sequence[Cell]


@dataclass(frozen=True)
class Met:
    """Two campaigns that answer to the same events at the same time. Of a `group` only one runs for an event."""

    first: str
    second: str
    country: str
    on: Sequence[str]
    since: datetime
    until: datetime
    group: str | None


@dataclass(frozen=True, kw_only=True)
class CalendarPage(Page):
    """By country and name. `is_whole`: there is room for all of them."""

    template: ClassVar[str] = "campaign_calendar.html"
    by: By
    first: date
    last: date
    before: date
    after: date
    country: str | None
    countries: Sequence[str]
    columns: Sequence[Column]
    rows: Sequence[CalendarRow]
    meets: Sequence[Met]
    is_whole: bool


async def calendar(call: Call) -> CalendarPage:
    by, day, country = By.WEEK if call.asked("by") == By.WEEK else By.MONTH, _day(call), call.asked("country")
    columns = columns_of(by, day)
    since, until = span_of(columns, ZoneInfo(call.session.zone))
    desk = call.rooms[CampaignDesk]
    records = await desk.between(since - _ZONES_APART, until + _ZONES_APART, countries=call.countries(Deed.SEE))
    chosen = [each for each in records if country in {None, each.document.country}]
    shown = chosen[:_MOST]
    rows = [CalendarRow(row_of(each, call.now), cells_of(each.document, columns)) for each in shown]
    before, after = beside(by, day)
    met = meetings(each.document for each in shown)
    return CalendarPage(
        title="Calendar of campaigns",
        command="abacus campaigns list",
        by=by,
        first=columns[0].first,
        last=columns[-1].last,
        before=before,
        after=after,
        country=country,
        countries=sorted({each.document.country for each in records}),
        columns=columns,
        rows=[each for each in rows if any(each.cells)],
        meets=met_of(each for each in met if each.since < until and each.until > since),
        is_whole=len(chosen) <= _MOST,
    )


def met_of(found: Iterable[Meeting]) -> Sequence[Met]:
    return [
        Met(
            each.first.name,
            each.second.name,
            each.first.country,
            ["/".join(on) for on in each.on],
            each.since,
            each.until,
            each.group,
        )
        for each in found
    ]


def _day(call: Call) -> date:
    """Raises `PageFault` for a day that is none."""
    asked = call.asked("at")
    if asked is None:
        return call.now.astimezone(ZoneInfo(call.session.zone)).date()
    try:
        day = date.fromisoformat(asked)
    except ValueError:
        day = _LAST
    if not _FIRST <= day < _LAST:
        raise PageFault("not-found", "The calendar has no such day.")
    return day
