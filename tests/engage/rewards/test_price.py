"""Who may have a reward, and at which price."""

from datetime import timedelta
from decimal import Decimal

import pytest

from abacus.engage.asking.types import Standing
from abacus.engage.rewards.decide.price import Lock, Locked, Quote, check_open, piece_price, quote
from tests.support.rewards import NOW, reward

MONEY = {"points": 500, "money": {"least_points": 200, "point_pays": "0.01"}}
BY_MEMBER = {"points": 500, "tiers": {"gold": 400, "silver": 600}, "segments": {"regulars": 300}}


@pytest.mark.parametrize(
    ("tier", "segments", "price"),
    [("member", [], 500), ("gold", [], 400), ("silver", [], 500), ("gold", ["regulars"], 300), ("member", ["a"], 500)],
)
def test_the_lowest_price_that_holds(tier: str, segments: list[str], price: int) -> None:
    assert piece_price(reward(price=BY_MEMBER), tier, segments) == price


@pytest.mark.parametrize(
    ("quantity", "points", "expected"),
    [
        (1, None, Quote(500)),
        (3, None, Quote(1500)),
        (1, 900, Quote(500)),
        (1, 300, Quote(300, Decimal("2.00"))),
        (2, 400, Quote(400, Decimal("6.00"))),
        (2, 399, Lock.POINTS),
    ],
)
def test_a_part_in_money(quantity: int, points: int | None, expected: Quote | Lock) -> None:
    if isinstance(expected, Lock):
        with pytest.raises(Locked) as refused:
            quote(reward(price=MONEY), 500, quantity, points)
        assert refused.value.lock is expected
    else:
        assert quote(reward(price=MONEY), 500, quantity, points) == expected


@pytest.mark.parametrize(
    ("country", "later", "lock"),
    [("SG", timedelta(0), None), ("ID", timedelta(0), Lock.COUNTRY), ("SG", timedelta(days=31), Lock.CLOSED)],
)
def test_where_and_when(country: str, later: timedelta, lock: Lock | None) -> None:
    standing = Standing(country, "member", 0, 0)
    if lock is None:
        check_open(reward(), standing, NOW + later)
    else:
        with pytest.raises(Locked) as refused:
            check_open(reward(), standing, NOW + later)
        assert refused.value.lock is lock
