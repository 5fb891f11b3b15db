"""The calendar of campaigns: the days of a week or the weeks of a month, and what a campaign does in each. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from enum import StrEnum
from typing import Final
from zoneinfo import ZoneInfo

from abacus.engage.campaigns.decide.campaign import Campaign

_DAY: Final = timedelta(days=1)
_WEEK: Final = timedelta(days=7)


class By(StrEnum):
    """What the calendar shows."""

    WEEK = "week"
    MONTH = "month"


class Cell(StrEnum):
    """What a campaign does in the time of a column."""

    NOTHING = ""
    RUNS = "runs"
    BEGINS = "begins"
    ENDS = "ends"
    BEGINS_AND_ENDS = "begins and ends"


@dataclass(frozen=True)
class Column:
    """A day or a week, with its first day and its last."""

    label: str
    first: date
    last: date


def columns_of(by: By, day: date) -> list[Column]:
    """The days of the day's week, or the weeks of its month, which begin on Mondays."""
    if by is By.WEEK:
        first = _monday(day)
        days = [first + each * _DAY for each in range(7)]
        return [Column(f"{each:%a} {each.day}", each, each) for each in days]
    begin, end = day.replace(day=1), _next_month(day)
    columns, first = [], begin
    while first < end:
        last = min(_monday(first) + _WEEK, end) - _DAY
        columns.append(Column(str(first.day) if first == last else f"{first.day}-{last.day}", first, last))
        first = last + _DAY
    return columns


def beside(by: By, day: date) -> tuple[date, date]:
    """A day of the week or month before, and of that after."""
    if by is By.WEEK:
        return _monday(day) - _WEEK, _monday(day) + _WEEK
    return (day.replace(day=1) - _DAY).replace(day=1), _next_month(day)


def cells_of(campaign: Campaign, columns: Sequence[Column]) -> list[Cell]:
    """By the days of the campaign's zone."""
    return [_cell(campaign, each) for each in columns]


def span_of(columns: Sequence[Column], zone: ZoneInfo) -> tuple[datetime, datetime]:
    """From the first moment of the columns up to the moment behind them."""
    return midnight(columns[0].first, zone), midnight(columns[-1].last + _DAY, zone)


def midnight(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time(), zone)


def _cell(campaign: Campaign, column: Column) -> Cell:
    first = campaign.starts_at.astimezone(campaign.zone).date()
    last = (campaign.ends_at.astimezone(campaign.zone) - timedelta.resolution).date()
    begin, end = max(first, column.first), min(last, column.last)
    if begin > end:
        return Cell.NOTHING
    begins, ends = column.first <= first, last <= column.last
    if begins or ends:
        return Cell.BEGINS_AND_ENDS if begins and ends else Cell.BEGINS if begins else Cell.ENDS
    days = {(begin + each * _DAY).weekday() for each in range((end - begin).days + 1)}
    return Cell.RUNS if not campaign.weekdays or days & campaign.weekdays else Cell.NOTHING


def _monday(day: date) -> date:
    return day - day.weekday() * _DAY


def _next_month(day: date) -> date:
    return (day.replace(day=28) + 4 * _DAY).replace(day=1)
