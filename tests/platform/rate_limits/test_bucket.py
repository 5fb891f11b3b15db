"""How many tokens a bucket gives, and the permits that follow from it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.platform.rate_limits.decide.bucket import grant, handful, passing, refusal, without
from abacus.platform.rate_limits.types import Permit, Wish

NOW = 1_800_000_000.0

# The limit, the tokens that are wanted, when the bucket is full, how many are given, and when it is full then.
GRANTS = [
    (60, 3, 0.0, 3, 3.0),
    (60, 60, 0.0, 60, 60.0),
    (60, 61, 0.0, 60, 60.0),
    (60, 3, 58.0, 2, 60.0),
    (60, 3, 60.0, 0, 60.0),
    (60, 3, 59.5, 0, 59.5),
    (60, 3, 3600.0, 0, 60.0),  # a clock was set back
    (60, -3, 10.0, -3, 7.0),
    (60, -3, -100.0, -3, -3.0),
    (1, 1, 0.0, 1, 60.0),
    (1_000_000, 50_000, 0.0, 50_000, 3.0),
]


@pytest.mark.parametrize(("limit", "wanted", "full_at", "tokens", "then"), GRANTS)
def test_what_a_bucket_gives(limit: int, wanted: int, full_at: float, tokens: int, then: float) -> None:
    given_ = grant(Wish("a", limit, wanted), NOW + full_at, NOW)
    assert given_.tokens == tokens
    assert given_.full_at - NOW == pytest.approx(then)


@given(st.lists(st.tuples(st.floats(0, 5), st.integers(1, 9)), max_size=200), st.integers(1, 50))
def test_never_more_than_a_burst_and_what_came_back(wishes: list[tuple[float, int]], limit: int) -> None:
    full_at, now, taken = 0.0, NOW, 0
    for gap, wanted in wishes:
        now += gap
        got = grant(Wish("a", limit, wanted), full_at, now)
        full_at, taken = got.full_at, taken + got.tokens
    assert taken <= limit + (now - NOW) * limit / 60 + 0.01


@given(st.integers(1, 1_000_000), st.floats(0, 60), st.integers(1, 100))
def test_what_is_given_back_is_there_again(limit: int, full_in: float, wanted: int) -> None:
    got = grant(Wish("a", limit, wanted), NOW + full_in, NOW)
    back = grant(Wish("a", limit, -got.tokens), got.full_at, NOW)
    assert back.full_at == pytest.approx(NOW + full_in, abs=1e-3)
    assert without(got.tokens, limit, got.full_at) == pytest.approx(NOW + full_in, abs=1e-3)


def test_permits() -> None:
    assert passing(60, NOW + 1, NOW) == Permit(60, 59, 1, 0)
    assert refusal(60, NOW + 60, NOW) == Permit(60, 0, 60, 1)
    assert refusal(1, NOW + 60, NOW) == Permit(1, 0, 60, 60)


@pytest.mark.parametrize(("limit", "tokens"), [(1, 1), (19, 1), (40, 2), (60, 3), (1_000_000, 50_000)])
def test_a_handful(limit: int, tokens: int) -> None:
    assert handful(limit) == tokens
