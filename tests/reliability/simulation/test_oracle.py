"""The oracle itself, on the golden cases: it shares nothing with the product but these."""

import json
from datetime import date, datetime
from typing import Any

import pytest

from tests.reliability.simulation.oracle import good_until, points_of
from tests.support.paths import GOLDEN


def _cases(name: str) -> list[Any]:
    cases: list[Any] = json.loads((GOLDEN / name).read_text(encoding="utf-8"))
    return [pytest.param(case, id=case["name"]) for case in cases]


@pytest.mark.parametrize("case", _cases("points.json"))
def test_points(case: dict[str, Any]) -> None:
    card = {
        "verticals": {"food": case["vertical"]},
        "payment_types": {"wallet": case["cashless"]},
        "tiers": {"gold": case["tier"]},
        "eppf": case["eppf"],
        "rounding": case["rounding"],
    }
    document = {"amount": case["amount"], "vertical": "food", "payment_type": "wallet"}
    assert points_of(document, card, "gold") == case["points"]


@pytest.mark.parametrize("case", _cases("expiry.json"))
def test_the_last_good_day(case: dict[str, Any]) -> None:
    assert good_until(datetime.fromisoformat(case["occurred_at"]), case) == date.fromisoformat(case["expires_on"])
