"""The calendar of campaigns: what runs when in each country, and where campaigns meet."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import ClassVar, Final
from zoneinfo import ZoneInfo

from abacus.console.decide.campaign_calendar import By, Cell, Column, beside, cells_of, columns_of, span_of
from abacus.console.pages.campaigns.campaign_pages import PAGES
from abacus.console.pages.stated.stated_row import StatedRow
from abacus.console.web.calls import Call
from abacus.console.web.cursor import Rows
from abacus.console.web.faults import PageFault
from abacus.console.web.page import Page
from abacus.core.errors import Refused
from abacus.documents.stated import Place
from abacus.engage.campaigns.campaign_store import CampaignRecord
from abacus.engage.campaigns.decide.calendar import over_its_time
from abacus.engage.campaigns.decide.campaign import LABELS, Campaign
from abacus.engage.campaigns.decide.meetings import Meeting, meetings
from abacus.engage.campaigns.desk import CampaignDesk
from abacus.engage.campaigns.kind import CAMPAIGNS
from abacus.people.types.deed import Deed

_MOST: Final = 50  # versions
_MOST_MEETINGS: Final = 20
_ZONES_APART: Final = timedelta(days=1)  # a day begins somewhere up to so much earlier or later
_FIRST, _LAST = date(2000, 1, 1), date(2100, 1, 1)


@dataclass(frozen=True)
class CalendarRow:
    """A version, and what it does in each column."""

    campaign: StatedRow
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


@dataclass(frozen=True)
class Meets:
    """The first meetings by their time. `is_whole`: there are no more."""

    first: Sequence[Met]
    is_whole: bool


@dataclass(frozen=True, kw_only=True)
class CalendarPage(Page):
    """The versions of some countries in a week or a month, by country and name. `meets` tells where they meet."""

    template: ClassVar[str] = "campaign_calendar.html"
    by: By
    first: date
    last: date
    before: date
    after: date
    country: str | None
    countries: Sequence[str]
    columns: Sequence[Column]
    list: Rows[CalendarRow]
    meets: Meets


async def calendar(call: Call) -> CalendarPage:
    by, day, country = By.WEEK if call.asked("by") == By.WEEK else By.MONTH, _day(call), call.asked("country")
    columns, desk, open_ = columns_of(by, day), call.rooms[CampaignDesk], call.countries(Deed.SEE)
    since, until = span_of(columns, ZoneInfo(call.session.zone))
    span = since - _ZONES_APART, until + _ZONES_APART
    asked = open_ if country is None else [country] if open_ is None or country in open_ else []
    found = await desk.between(*span, countries=asked, after=_after(call), limit=_MOST + 1)
    shown = [(each, _over_its_time(each, call.now)) for each in found[:_MOST]]
    rows = [CalendarRow(PAGES.row(call, each), cells_of(ran, columns)) for each, ran in shown if ran is not None]
    met = [
        each
        for each in meetings(ran for _, ran in shown if ran is not None)
        if each.since < until and each.until > since
    ]
    before, after = beside(by, day)
    return CalendarPage(
        title="Calendar of campaigns",
        command="abacus campaigns list",
        by=by,
        first=columns[0].first,
        last=columns[-1].last,
        before=before,
        after=after,
        country=country,
        countries=await desk.countries_between(*span, countries=open_),
        columns=columns,
        list=Rows([each for each in rows if any(each.cells)], _more(call, found)),
        meets=meets_of(met, is_whole=True),
    )


def meets_of(found: Sequence[Meeting], *, is_whole: bool) -> Meets:
    """`is_whole`: these are all."""
    first = [
        Met(
            each.first.name,
            each.second.name,
            each.first.country,
            ["/".join(on) for on in each.on],
            each.since,
            each.until,
            each.group,
        )
        for each in found[:_MOST_MEETINGS]
    ]
    return Meets(first, is_whole=is_whole and len(found) == len(first))


def _over_its_time(record: CampaignRecord, now: datetime) -> Campaign | None:
    return over_its_time(record.document, record.status, record.changed_at, now)


def _more(call: Call, found: Sequence[CampaignRecord]) -> str | None:
    if len(found) <= _MOST:
        return None
    country, name, version = CAMPAIGNS.place(found[_MOST - 1].document)
    return call.next_page(f"{country} {name}@{version}")


def _after(call: Call) -> Place | None:
    """The version behind which the page begins. Raises `PageFault` for an address without a version."""
    text = call.asked("after")
    if text is None:
        return None
    country, _, label = text.partition(" ")
    with suppress(Refused):
        name, version = LABELS.split(label)
        if version is not None:
            return Place(country, name, version)
    raise PageFault("not-found", "There is no such page of the calendar.")


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
