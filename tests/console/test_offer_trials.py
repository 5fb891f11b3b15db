"""What trials of offers say."""

from collections.abc import Sequence
from typing import Any

import pytest

from abacus.console.decide.offer_trials import answered, would_have_given
from tests.console.asking import OFFER_BACKTESTED


def test_what_it_would_have_given() -> None:
    words = would_have_given(OFFER_BACKTESTED)
    assert words.says == [
        "1,200 purchases looked at, 40 of them get something.",
        "30 members would have got SGD 84.00 and 0 points.",
        "One of them SGD 9.00 and 0 points.",
        "It does not fit 1,100 by price, 60 by scope.",
        "Nobody is invited yet: all members counted as invited.",
    ]
    assert words.warns == "Past purchases name no brands: of these it fits none."
    assert words.chart is not None
    assert [(line.label, line.values) for line in words.chart.lines] == [
        ("with the offer", [30, 0, 10]),
        ("beyond a limit", [0, 0, 5]),
    ]


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        (
            {"points": 900, "liability": "7.20", "liability_currency": "SGD"},
            ["The liability of the points is 7.20 SGD."],
        ),
        ({"does_not_fit": {}, "everybody_invited": False, "days": []}, []),
    ],
)
def test_what_is_said_only_where_it_is_so(changed: dict[str, Any], says: Sequence[str]) -> None:
    words = would_have_given({**OFFER_BACKTESTED, "does_not_fit": {}, "everybody_invited": False, **changed})
    assert words.says[3:] == says


def test_what_is_answered() -> None:
    line = {"request": 1, "item": "a", "price": "12.00", "best": "lunch_20@1", "saves": "2.40", "pays": "9.60"}
    words = answered(
        {
            "offer": "lunch_20",
            "at": "2026-03-01T00:00:00Z",
            "verdicts": [
                {"request": 1, "items": "a", "saves": "2.40", "reason": None, "needs": None},
                {"request": 2, "items": "", "saves": "0.00", "reason": "price", "needs": "spend SGD 4.20 more"},
            ],
            "items": [{**line, "points": 19, "next_best": ""}],
            "refused": [],
        }
    )
    assert words.says == [
        "Request 1: lunch_20 fits a and saves 2.40.",
        "Request 2: lunch_20 does not fit by price: spend SGD 4.20 more.",
    ]
    assert [(each.title, each.all) for each in words.tables] == [("What is answered", 1)]
