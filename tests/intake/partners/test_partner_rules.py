"""Rates of requests, and values of a partner: small rules, each by itself."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.core.errors import Refused
from abacus.intake.partners.decide.limiter import RateLimiter
from abacus.intake.partners.decide.partner import Partner, checked

NOW = datetime(2026, 6, 1, tzinfo=UTC)
PARTNER = Partner(
    partner_id="acme",
    name="Acme",
    fixed_points=True,
    computed_points=False,
    countries=("SG",),
    card_scope=None,
    requests_per_minute=60,
    signing_secret=None,
    created_at=NOW,
    created_by="ann",
    disabled_at=None,
)


def test_a_minutes_requests_pass_at_once_and_then_one_a_second() -> None:
    limiter = RateLimiter()
    permits = [limiter.take("acme", 60, 0.0) for _ in range(61)]
    assert [permit.remaining for permit in permits] == [*range(59, -1, -1), 0]
    assert [permit.wait_s for permit in permits] == [0] * 60 + [1]
    assert limiter.take("bits", 60, 0.0).remaining == 59
    assert limiter.take("acme", 60, 1.0).wait_s == 0
    assert limiter.take("acme", 60, 1.0).wait_s == 1
    assert limiter.take("acme", 60, 200.0) == (60, 59, 1, 0)


@given(st.lists(st.floats(0, 5), max_size=200), st.integers(1, 50))
def test_never_more_than_a_burst_and_what_came_back(gaps: list[float], per_minute: int) -> None:
    limiter, now, passed = RateLimiter(), 0.0, 0
    for gap in gaps:
        now += gap
        passed += limiter.take("acme", per_minute, now).wait_s == 0
    assert passed <= per_minute + now * per_minute / 60 + 1e-6


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"partner_id": "Acme"}, "small letters"),
        ({"partner_id": "a:b"}, "small letters"),
        ({"name": " "}, "--name"),
        ({"fixed_points": False}, "may award nothing"),
        ({"countries": ("sg",)}, "'sg' is not a country"),
        ({"requests_per_minute": 0}, "--requests-per-minute"),
    ],
)
def test_a_partner_that_makes_no_sense(changes: dict[str, object], what: str) -> None:
    with pytest.raises(Refused, match=what):
        checked(PARTNER._replace(**changes))  # type: ignore[arg-type]  # a table of changes
