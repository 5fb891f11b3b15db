"""A campaign's times: when its versions ran, and the days, weeks and months of its zone. Pure."""

from dataclasses import replace
from datetime import datetime
from typing import Final, NamedTuple

from abacus.core.fields import EARLIEST, LATEST
from abacus.documents.decide.states import Status
from abacus.engage.campaigns.decide.campaign import Campaign, Period


def day_of(campaign: Campaign, at: datetime) -> str:
    """The day of the campaign's zone: 2026-01-10."""
    return at.astimezone(campaign.zone).date().isoformat()


def period_of(campaign: Campaign, period: Period, at: datetime) -> str:
    """The name of the day, week or month of the campaign's zone; nothing for its whole life."""
    day = at.astimezone(campaign.zone).date()
    match period:
        case Period.CAMPAIGN:
            return ""
        case Period.DAY:
            return day.isoformat()
        case Period.WEEK:
            year, week, _ = day.isocalendar()
            return f"{year:04}-W{week:02}"
        case Period.MONTH:
            return day.isoformat()[:7]


class BacktestWindow(NamedTuple):
    """From a moment up to and without another."""

    begin: datetime
    end: datetime


_ALWAYS: Final = BacktestWindow(EARLIEST, LATEST)


def within(campaign: Campaign, window: BacktestWindow) -> Campaign | None:
    """The campaign as if it had been approved before; nothing, if its times lie outside of the window."""
    begin, end = max(campaign.starts_at, window.begin), min(campaign.ends_at, window.end)
    return replace(campaign, starts_at=begin, ends_at=end, approved_at=EARLIEST) if begin < end else None


def as_it_ran(campaign: Campaign, status: Status, changed_at: datetime, window: BacktestWindow) -> Campaign | None:
    """A version that was approved, in the time of the window in which it ran; nothing, where it did not. A version that
    is ended, exhausted or paused ran until then: earlier pauses are not known.
    """
    until = LATEST if status is Status.APPROVED else changed_at
    return within(campaign, BacktestWindow(max(window.begin, campaign.approved_at), min(window.end, until)))


def over_its_time(campaign: Campaign, status: Status, changed_at: datetime, now: datetime) -> Campaign | None:
    """A version over the time in which it ran, runs, or is to run; nothing, where it never ran. A version that waits
    for approval, or is paused and may go on, is to run as it says.
    """
    may_go_on = status is Status.SUBMITTED or (status is Status.PAUSED and now < campaign.ends_at)
    return as_it_ran(campaign, Status.APPROVED if may_go_on else status, changed_at, _ALWAYS)
