"""The verdict on an attempt: delivered, again later, given up, gone."""

import random
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import pytest

from abacus.core.backoff import Backoff
from abacus.platform.delivery.decide.reply import Reply, waits_until
from abacus.platform.delivery.decide.schedule import Schedule
from abacus.platform.delivery.types import Answer, DeliveryOutcome, Said, Verdict

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
BACKOFF = Backoff(first_s=5, longest_s=100)
DELIVERED, RETRIED, GIVEN_UP, GONE = (
    DeliveryOutcome.DELIVERED,
    DeliveryOutcome.RETRIED,
    DeliveryOutcome.GIVEN_UP,
    DeliveryOutcome.GONE,
)
BEFORE, AFTER = NOW + timedelta(seconds=1), NOW - timedelta(seconds=1)


class Turn(NamedTuple):
    """The third attempt."""

    id: str = "t"
    receiver: str = "r"
    attempts: int = 3


def decided(answer: Answer, *, retry_until: datetime, backoff: Backoff = BACKOFF, seed: int = 1) -> Verdict:
    schedule = Schedule[Turn](backoff, lambda _claim, _now: retry_until, random.Random(seed))
    return schedule.verdict(Turn(), answer, NOW)


ANSWERS = [
    (Said.ACCEPTED, BEFORE, DELIVERED),
    (Said.ACCEPTED, AFTER, DELIVERED),
    (Said.FAILED, BEFORE, RETRIED),
    (Said.FAILED, NOW, GIVEN_UP),
    (Said.FAILED, AFTER, GIVEN_UP),
    (Said.REFUSED, BEFORE, GIVEN_UP),
    (Said.GONE, BEFORE, GONE),
    (Said.GONE, AFTER, GONE),
]


@pytest.mark.parametrize(("said", "retry_until", "outcome"), ANSWERS)
def test_what_follows_from_an_answer(said: Said, retry_until: datetime, outcome: DeliveryOutcome) -> None:
    decision = decided(Answer(said, "why"), retry_until=retry_until)
    assert decision.outcome is outcome
    assert (decision.retry_at is not None) == (outcome is RETRIED)
    assert decision.reason == (None if outcome is DELIVERED else "why")


STATUSES = [
    (200, BEFORE, DELIVERED),
    (204, AFTER, DELIVERED),
    (299, BEFORE, DELIVERED),
    (199, BEFORE, RETRIED),
    (302, BEFORE, RETRIED),
    (404, BEFORE, RETRIED),
    (410, BEFORE, GONE),
    (410, AFTER, GONE),
    (429, BEFORE, RETRIED),
    (500, BEFORE, RETRIED),
    (None, BEFORE, RETRIED),
    (None, NOW, GIVEN_UP),
    (500, AFTER, GIVEN_UP),
]


@pytest.mark.parametrize(("status", "retry_until", "outcome"), STATUSES)
def test_what_follows_from_a_reply(status: int | None, retry_until: datetime, outcome: DeliveryOutcome) -> None:
    decision = decided(Answer(Reply(status, "").said), retry_until=retry_until)
    assert decision.outcome is outcome
    assert (decision.retry_at is not None) == (outcome is RETRIED)


def test_waits_are_jittered() -> None:
    until = NOW + timedelta(days=3)
    assert len({decided(Answer(Said.FAILED), retry_until=until, seed=seed).retry_at for seed in range(50)}) == 50


def test_a_wait_that_the_receiver_wants_counts_when_it_is_longer_and_ends_with_the_time() -> None:
    def wait_after(retry_after: str) -> timedelta:
        answer = Answer(Said.FAILED, "busy", 503, waits_until(retry_after, NOW))
        backoff = Backoff(first_s=60, longest_s=60)
        decision = decided(answer, retry_until=NOW + timedelta(hours=1), backoff=backoff)
        assert decision.retry_at is not None
        return decision.retry_at - NOW

    assert wait_after("600") == timedelta(minutes=10)
    assert wait_after("7200") == timedelta(hours=1)
    assert timedelta() <= wait_after("0") <= timedelta(minutes=1)
