"""When versions of campaigns ran, within a window of time. Pure."""

from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from abacus.core.fields import EARLIEST, LATEST
from abacus.documents.decide.states import Status
from abacus.engage.campaigns.decide.campaign import Campaign


class BacktestWindow(NamedTuple):
    """From a moment up to and without another."""

    begin: datetime
    end: datetime


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
