"""Tiers from points earned: the periods of a country's calendar, and the tier of each. Plain functions.

The points that an account earns in a period make a tier, which lasts to the end of the next period. An account has the
highest tier that lasts. So a tier is kept to the end of the next period and then steps down to the tier earned in that
one, and the order in which points arrive does not matter.
"""

from calendar import monthrange
from collections.abc import Iterable
from datetime import date, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Final, NamedTuple

from abacus.ledger.types.account import MAX_BALANCE
from abacus.pricing.decide.card import BASE_TIER, TierPolicy

LONG_AGO: Final = date.min  # before every period
ONE_DAY: Final = timedelta(days=1)


class Period(NamedTuple):
    """Whole months, both days included; a tier reached in the period lasts through the day `until`."""

    starts_on: date
    ends_on: date
    until: date


class Reached(NamedTuple):
    """A tier, and the points that it took when it was reached."""

    tier: str
    threshold: int


NO_TIER: Final = Reached(BASE_TIER, 0)


class Tally(NamedTuple):
    """The points that an account earned in a period, less reversed points, and the tier that they make."""

    period: Period
    earned: int
    reached: Reached


def period_of(moment: datetime, zone: tzinfo, months: int) -> Period:
    """The period that the moment falls into where it happened. Periods divide the calendar from January of year 0."""
    local = moment.astimezone(zone)
    return _period((local.year * 12 + local.month - 1) // months, months)


def reached_with(earned: int, policy: TierPolicy) -> Reached:
    """The highest tier whose threshold this is enough for."""
    best = NO_TIER
    for tier, threshold in policy.thresholds.items():
        if best.threshold < threshold <= earned:
            best = Reached(tier, threshold)
    return best


def counted(tally: Tally, points: int, policy: TierPolicy) -> Tally:
    """The tally with these points, negative when they are reversed.

    A tier stays reached when thresholds are raised afterwards, as long as the points that it took are there.
    """
    # Points beyond a balance's limit make no other tier.
    earned = max(-MAX_BALANCE, min(tally.earned + points, MAX_BALANCE))
    now = reached_with(earned, policy)
    kept = tally.reached if earned >= tally.reached.threshold else NO_TIER
    return Tally(tally.period, earned, kept if kept.threshold > now.threshold else now)


def carrying(tallies: Iterable[Tally], rolled_through: date) -> Tally | None:
    """The tally whose tier the account has, once that day is over; none when it has no tier but the first."""
    lasting = [
        tally
        for tally in tallies
        if tally.period.until > rolled_through and tally.reached.threshold > NO_TIER.threshold
    ]
    return max(lasting, key=lambda tally: (tally.reached.threshold, tally.period.until), default=None)


@lru_cache(maxsize=1024)
def _period(number: int, months: int) -> Period:
    year, month = divmod(number * months, 12)
    return Period(date(year, month + 1, 1), _last_day(number, months), _last_day(number + 1, months))


def _last_day(number: int, months: int) -> date:
    year, month = divmod((number + 1) * months - 1, 12)
    return date(year, month + 1, monthrange(year, month + 1)[1])
