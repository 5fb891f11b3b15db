"""What follows from a try, and when members are told of points that will expire."""

import random
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.engage.notify.decide.ahead import DAYS_AHEAD, Expiry, expiring, today_in, window
from abacus.engage.notify.decide.outcome import BACKOFF, Answer, Outcome, Said, verdict
from abacus.engage.notify.decide.part import Expiring

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
SENT, FAILED, REFUSED = Answer(Said.SENT), Answer(Said.FAILED, "no answer"), Answer(Said.REFUSED, "bad")


@pytest.mark.parametrize(
    ("answer", "failing_since", "outcome", "reason"),
    [
        (SENT, None, Outcome.SENT, None),
        (SENT, NOW - 9 * DAY, Outcome.SENT, None),
        (FAILED, None, Outcome.RETRIED, "no answer"),
        (FAILED, NOW - DAY + timedelta(seconds=1), Outcome.RETRIED, "no answer"),
        (FAILED, NOW - DAY, Outcome.PARKED, "no answer"),
        (REFUSED, None, Outcome.PARKED, "bad"),
    ],
)
def test_verdict(answer: Answer, failing_since: datetime | None, outcome: Outcome, reason: str | None) -> None:
    found = verdict(answer, NOW, attempts=3, failing_since=failing_since, park_after=DAY, rng=random.Random(1))
    assert (found.outcome, found.reason) == (outcome, reason)


@given(attempts=st.integers(1, 10_000), seed=st.integers(), hours=st.floats(0, 23.9))
def test_a_retry_comes_with_jitter_and_within_the_time(attempts: int, seed: int, hours: float) -> None:
    since = NOW - timedelta(hours=hours)
    found = verdict(FAILED, NOW, attempts=attempts, failing_since=since, park_after=DAY, rng=random.Random(seed))
    assert found.due_at is not None
    assert NOW <= found.due_at <= min(since + DAY, NOW + timedelta(seconds=BACKOFF.ceiling(attempts)))


def test_a_country_has_its_own_day() -> None:
    at = datetime(2026, 6, 30, 17, 0, tzinfo=UTC)
    assert today_in(ZoneInfo("Asia/Singapore"), at) == date(2026, 7, 1)
    assert today_in(ZoneInfo("Asia/Bangkok"), at) == date(2026, 7, 1)
    assert today_in(ZoneInfo("UTC"), at) == date(2026, 6, 30)
    assert window(date(2026, 7, 1)) == (date(2026, 7, 1), date(2026, 7, 31))


@pytest.mark.parametrize(
    ("today", "stage", "days"),
    [
        (date(2026, 7, 1), 30, 30),
        (date(2026, 7, 2), 30, 29),  # yesterday's run was missed
        (date(2026, 7, 23), 30, 8),
        (date(2026, 7, 24), 7, 7),
        (date(2026, 7, 30), 7, 1),
        (date(2026, 7, 31), 7, 0),
    ],
)
def test_the_stage_that_is_reached(today: date, stage: int, days: int) -> None:
    assert stage in DAYS_AHEAD
    notice = expiring(Expiry("bob", "GRP", "SG", 60, date(2026, 7, 31)), today, NOW)
    assert (notice.member_id, notice.event_id) == ("bob", f"expiring:GRP:2026-07-31:{stage}")
    assert notice.part == Expiring(program="GRP", country="SG", points=60, expires_on=date(2026, 7, 31), days=days)
