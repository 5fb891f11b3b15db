"""Periods, tallies, and the tier that they give an account."""

import random
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.programs.tiers.decide.policy import (
    LONG_AGO,
    NO_TIER,
    Period,
    Reached,
    Tally,
    carrying,
    counted,
    period_of,
    reached_with,
)
from tests.programs.tiers.cards import policy

SG = ZoneInfo("Asia/Singapore")
FIRST_HALF = Period(date(2026, 1, 1), date(2026, 6, 30), date(2026, 12, 31))

ranks = {"member": 0, "silver": 300, "gold": 1500, "platinum": 4500}
divisors = st.sampled_from([1, 2, 3, 4, 6, 12])
moments = st.datetimes(datetime(2000, 1, 2), datetime(2099, 12, 30), timezones=st.just(UTC))  # noqa: DTZ001  # as it asks for
zones = st.sampled_from(["Asia/Singapore", "Asia/Jakarta", "Pacific/Auckland", "America/Los_Angeles"]).map(ZoneInfo)


@pytest.mark.parametrize(
    ("moment", "zone", "months", "days"),
    [
        ("2026-01-01T00:00:00+08:00", "Asia/Singapore", 6, "2026-01-01 2026-06-30 2026-12-31"),
        ("2025-12-31T16:00:00+00:00", "Asia/Singapore", 6, "2026-01-01 2026-06-30 2026-12-31"),
        ("2025-12-31T15:59:59+00:00", "Asia/Singapore", 6, "2025-07-01 2025-12-31 2026-06-30"),
        ("2026-06-30T23:59:59+08:00", "Asia/Singapore", 6, "2026-01-01 2026-06-30 2026-12-31"),
        ("2026-07-01T00:30:00+08:00", "Asia/Jakarta", 6, "2026-01-01 2026-06-30 2026-12-31"),
        ("2026-12-10T00:00:00+08:00", "Asia/Singapore", 12, "2026-01-01 2026-12-31 2027-12-31"),
        ("2024-02-29T12:00:00+08:00", "Asia/Singapore", 1, "2024-02-01 2024-02-29 2024-03-31"),
        ("2024-01-31T12:00:00+08:00", "Asia/Singapore", 1, "2024-01-01 2024-01-31 2024-02-29"),
        ("2026-12-01T00:00:00+08:00", "Asia/Singapore", 3, "2026-10-01 2026-12-31 2027-03-31"),
        ("2026-08-31T12:00:00+08:00", "Asia/Singapore", 4, "2026-05-01 2026-08-31 2026-12-31"),
    ],
)
def test_the_period_is_that_of_the_country(moment: str, zone: str, months: int, days: str) -> None:
    expected = Period(*map(date.fromisoformat, days.split()))
    assert period_of(datetime.fromisoformat(moment), ZoneInfo(zone), months) == expected


@given(moments, zones, divisors)
def test_periods_divide_the_calendar(moment: datetime, zone: ZoneInfo, months: int) -> None:
    period = period_of(moment, zone, months)
    assert period.starts_on <= moment.astimezone(zone).date() <= period.ends_on < period.until
    assert (period.starts_on.day, (period.starts_on.month - 1) % months) == (1, 0)
    day_after = datetime.combine(period.ends_on + timedelta(days=1), datetime.min.time(), zone)
    following = period_of(day_after, zone, months)
    assert following.starts_on == period.ends_on + timedelta(days=1)
    assert following.ends_on == period.until


@pytest.mark.parametrize(
    ("earned", "tier"),
    [
        (-5, "member"),
        (0, "member"),
        (299, "member"),
        (300, "silver"),
        (1499, "silver"),
        (1500, "gold"),
        (4500, "platinum"),
        (10**15, "platinum"),
    ],
)
def test_the_tier_of_what_was_earned(earned: int, tier: str) -> None:
    assert reached_with(earned, policy()) == Reached(tier, ranks[tier])


points = st.integers(-2000, 2000)


@given(st.lists(points), st.randoms(use_true_random=False))
def test_under_one_policy_the_tally_depends_on_the_sum_alone(earned: list[int], shuffled: random.Random) -> None:
    tally = Tally(FIRST_HALF, 0, NO_TIER)
    for each in earned:
        tally = counted(tally, each, policy())
        assert tally.reached == reached_with(tally.earned, policy())
    shuffled.shuffle(earned)
    again = Tally(FIRST_HALF, 0, NO_TIER)
    for each in earned:
        again = counted(again, each, policy())
    assert again == tally


def test_what_was_reached_stays_reached_when_thresholds_rise_and_the_points_are_still_there() -> None:
    dearer = policy(thresholds={"silver": 1000})
    silver = counted(Tally(FIRST_HALF, 0, NO_TIER), 310, policy())
    assert counted(silver, 5, dearer).reached == Reached("silver", 300)
    assert counted(silver, -10, dearer).reached == Reached("silver", 300)
    assert counted(silver, -11, dearer).reached == NO_TIER
    cheaper = policy(thresholds={"silver": 100, "gold": 312})
    assert counted(silver, 5, cheaper).reached == Reached("gold", 312)


def half_years(*earned: int) -> list[Tally]:
    """Tallies of the points that were earned in each half year from January 2026 on."""
    tallies = []
    for number, points_ in enumerate(earned):
        month = datetime(2026 + number // 2, number % 2 * 6 + 1, 15, tzinfo=UTC)
        tallies.append(Tally(period_of(month, SG, 6), points_, reached_with(points_, policy())))
    return tallies


ENDS = [LONG_AGO, date(2026, 6, 30), date(2026, 12, 31), date(2027, 6, 30), date(2027, 12, 31), date(2028, 6, 30)]


@pytest.mark.parametrize(
    ("earned", "tiers"),  # the tier in the first half of 2026, and after the end of each half year
    [
        ((0, 0, 0), ["member", "member", "member"]),
        ((300, 0, 0), ["silver", "silver", "member"]),
        ((1500, 300, 0, 0), ["gold", "gold", "silver", "member"]),
        ((1500, 1500, 0, 0), ["gold", "gold", "gold", "member"]),
        ((4500, 0, 300, 0), ["platinum", "platinum", "silver", "silver", "member"]),
        ((300, 1500, 0, 0), ["silver", "gold", "gold", "member"]),
    ],
)
def test_a_tier_lasts_to_the_end_of_the_next_period_then_steps_down_to_what_was_earned(
    earned: tuple[int, ...], tiers: list[str]
) -> None:
    tallies = half_years(*earned)
    carriers = [carrying(tallies[: place + 1], ended) for place, ended in enumerate(ENDS[: len(tiers)])]
    assert [tally.reached.tier if tally else "member" for tally in carriers] == tiers


@given(st.lists(st.integers(-100, 6000), min_size=1, max_size=5), st.integers(1, 5))
def test_the_tier_is_the_highest_of_the_last_two_periods(earned: list[int], now: int) -> None:
    tallies = half_years(*earned)[: now + 1]
    carrier = carrying(tallies, ENDS[now])
    best = max([NO_TIER, *(tally.reached for tally in tallies[max(0, now - 1) : now + 1])], key=lambda r: r.threshold)
    assert (carrier.reached if carrier else NO_TIER) == best
