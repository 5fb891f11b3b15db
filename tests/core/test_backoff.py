"""How long to wait before the next try."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abacus.core.backoff import Backoff


@pytest.mark.parametrize(
    ("backoff", "attempt", "ceiling"),
    [
        (Backoff(first_s=2, longest_s=900), 1, 2),
        (Backoff(first_s=2, longest_s=900), 2, 4),
        (Backoff(first_s=2, longest_s=900), 9, 512),
        (Backoff(first_s=2, longest_s=900), 10, 900),
        (Backoff(first_s=2, longest_s=900), 10_000, 900),
        (Backoff(first_s=2, longest_s=900), 10**30, 900),
        (Backoff(first_s=30, longest_s=15), 1, 15),
    ],
)
def test_the_ceiling_doubles_up_to_the_longest_wait(backoff: Backoff, attempt: int, ceiling: float) -> None:
    assert backoff.ceiling(attempt) == ceiling


@given(first_s=st.floats(0.001, 60), longest_s=st.floats(0.001, 900), attempt=st.integers(1, 10**6), seed=st.integers())
@settings(deadline=None)
def test_the_wait_is_anything_up_to_the_ceiling(first_s: float, longest_s: float, attempt: int, seed: int) -> None:
    backoff = Backoff(first_s, longest_s)
    assert 0 <= backoff.wait(attempt, random.Random(seed)) <= backoff.ceiling(attempt) <= longest_s


def test_those_who_failed_together_do_not_come_back_together() -> None:
    waits = [Backoff(first_s=2, longest_s=900).wait(6, random.Random(seed)) for seed in range(200)]
    by_quarter = [sum(quarter * 16 <= wait < (quarter + 1) * 16 for wait in waits) for quarter in range(4)]
    assert min(by_quarter) > 25, by_quarter
