"""How long a notification is tried, and when members are told of points that will expire."""

import random
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.engage.notify.decide.ahead import DAYS_AHEAD, Expiry, reminder_of
from abacus.engage.notify.decide.news import Expiring
from abacus.engage.notify.outbox import Notification
from abacus.engage.notify.sender import BACKOFF
from abacus.platform.delivery.decide.schedule import Schedule, failing_for
from abacus.platform.delivery.types import Answer, DeliveryOutcome, Lease, Said, Verdict

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
_NEVER_QUIET = (None, None, None)
SENT, FAILED, REFUSED = Answer(Said.ACCEPTED), Answer(Said.FAILED, "no answer"), Answer(Said.REFUSED, "bad")


def decided(answer: Answer, failing_since: datetime | None, *, attempts: int = 3, seed: int = 1) -> Verdict:
    lease = Lease(("bob", "ntf_1", "log"), "bob", NOW)
    notification = Notification("bob", "ntf_1", "en", b"[]", NOW, failing_since, *_NEVER_QUIET, NOW, attempts, lease)
    return Schedule(BACKOFF, failing_for(DAY), random.Random(seed)).verdict(notification, answer, NOW)


@pytest.mark.parametrize(
    ("answer", "failing_since", "outcome", "reason"),
    [
        (SENT, None, DeliveryOutcome.DELIVERED, None),
        (SENT, NOW - 9 * DAY, DeliveryOutcome.DELIVERED, None),
        (FAILED, None, DeliveryOutcome.RETRIED, "no answer"),
        (FAILED, NOW - DAY + timedelta(seconds=1), DeliveryOutcome.RETRIED, "no answer"),
        (FAILED, NOW - DAY, DeliveryOutcome.GIVEN_UP, "no answer"),
        (REFUSED, None, DeliveryOutcome.GIVEN_UP, "bad"),
    ],
)
def test_verdict(answer: Answer, failing_since: datetime | None, outcome: DeliveryOutcome, reason: str | None) -> None:
    decision = decided(answer, failing_since)
    assert (decision.outcome, decision.reason) == (outcome, reason)


@given(attempts=st.integers(1, 10_000), seed=st.integers(), hours=st.floats(0, 23.9))
def test_a_retry_comes_with_jitter_and_within_the_time(attempts: int, seed: int, hours: float) -> None:
    since = NOW - timedelta(hours=hours)
    decision = decided(FAILED, since, attempts=attempts, seed=seed)
    assert decision.retry_at is not None
    assert NOW <= decision.retry_at <= min(since + DAY, NOW + timedelta(seconds=BACKOFF.ceiling(attempts)))


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
    notice = reminder_of(Expiry("bob", "GRP", "SG", 60, date(2026, 7, 31), lifetime=False), today, NOW)
    assert (notice.member_id, notice.event_id) == ("bob", f"expiring:GRP:2026-07-31:{stage}")
    assert notice.news == Expiring(program="GRP", country="SG", points=60, expires_on=date(2026, 7, 31), days=days)
