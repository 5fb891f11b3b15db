"""The retry policy: when a message is tried again, and when it is given up."""

import random
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abacus.intake.earning.decide.retry import RetryPolicy

FIRST = datetime(2026, 1, 10, 12, 30, tzinfo=UTC)


@given(attempt=st.integers(1, 200), seed=st.integers())
@settings(max_examples=200, deadline=None)
def test_delays_grow_to_fifteen_minutes(attempt: int, seed: int) -> None:
    delay = RetryPolicy().delay_s(attempt, random.Random(seed))
    assert type(delay) is int, "SQS takes whole seconds"
    assert 0 <= delay <= min(900, 2 * 2 ** (attempt - 1))


@pytest.mark.parametrize(("attempt", "longest"), [(1, 1), (2, 3), (5, 31), (9, 511), (10, 899), (50, 899)])
def test_the_whole_range_is_used(attempt: int, longest: int) -> None:
    rng = random.Random(7)
    delays = [RetryPolicy().delay_s(attempt, rng) for _ in range(4000)]
    assert min(delays) <= longest // 100
    assert longest * 0.99 <= max(delays) <= longest


@pytest.mark.parametrize(
    ("policy", "waited", "exhausted"),
    [
        (RetryPolicy(), timedelta(0), False),
        (RetryPolicy(), timedelta(hours=24) - timedelta(microseconds=1), False),
        (RetryPolicy(), timedelta(hours=24), True),
        (RetryPolicy(), timedelta(days=400), True),
        (RetryPolicy(), timedelta(hours=-1), False),
        (RetryPolicy(give_up_after=timedelta(minutes=5)), timedelta(minutes=4), False),
        (RetryPolicy(give_up_after=timedelta(minutes=5)), timedelta(minutes=5), True),
    ],
    ids=[
        "at once",
        "just before a day",
        "a day",
        "much later",
        "a clock that went back",
        "before a limit of one's own",
        "a limit of one's own",
    ],
)
def test_when_it_is_over(policy: RetryPolicy, waited: timedelta, exhausted: bool) -> None:  # noqa: FBT001  # the expected outcome of a row
    assert policy.exhausted(FIRST, FIRST + waited) is exhausted
