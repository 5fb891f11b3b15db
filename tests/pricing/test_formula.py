"""points = amount x vertical x EPPF x cashless x tier: exact, rounded once, explained."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from abacus.core.errors import Reason, SetAside
from abacus.core.points import MAX_POINTS, Multiplier, Rounding
from abacus.pricing.decide.card import PublishedCard, RateCard
from abacus.pricing.decide.formula import Worth, rate_of, worth
from tests.support.cards import SINGAPORE, times
from tests.support.paths import GOLDEN

CASES = json.loads((GOLDEN / "points.json").read_text("utf-8"))


def card_with(vertical: Multiplier, eppf: Multiplier, cashless: Multiplier, tier: Multiplier) -> RateCard:
    return replace(
        SINGAPORE, verticals={"v": vertical}, eppf=eppf, payment_types={"p": cashless}, tiers={"member": tier}
    )


def priced(amount: str, card: RateCard) -> Worth:
    return worth(amount, rate_of(PublishedCard(card, 3), "v", "p", "member"))


@pytest.mark.parametrize("row", [pytest.param(row, id=row["name"]) for row in CASES])
def test_golden(row: dict[str, Any]) -> None:
    card = replace(
        card_with(*(times(row[factor]) for factor in ("vertical", "eppf", "cashless", "tier"))),
        scope=row["country"],
        currency=row["currency"],
        rounding=Rounding(row["rounding"]),
    )
    points, explanation = priced(row["amount"], card)
    assert points == row["points"]
    assert json.loads(explanation) == {
        "v": 1,
        "amount": row["amount"],
        "currency": row["currency"],
        "card": f"{row['country']}@3",
        "factors": [
            ["vertical", "v", row["vertical"]],
            ["eppf", row["country"], row["eppf"]],
            ["cashless", "p", row["cashless"]],
            ["tier", "member", row["tier"]],
        ],
        "product": row["product"],
        "rounding": row["rounding"],
        "points": row["points"],
    }


ROUNDED: dict[Rounding, Callable[[Fraction], int]] = {
    Rounding.FLOOR: lambda exact: exact.numerator // exact.denominator,
    Rounding.HALF_UP: lambda exact: (2 * exact.numerator + exact.denominator) // (2 * exact.denominator),
    Rounding.CEIL: lambda exact: -(-exact.numerator // exact.denominator),
}


@st.composite
def decimals(draw: st.DrawFn, whole: int, fraction: int) -> str:
    """Plain decimals of up to so many digits before and after the point; half of them small, as prices are."""
    places = draw(st.integers(0, fraction))
    digits = draw(st.integers(0, 9999) | st.integers(0, 10 ** (whole + places) - 1))
    return f"{Decimal(digits).scaleb(-places):f}"


multipliers = decimals(12, 12).map(times)
WIDEST, FINEST = times("999999999999.999999999999"), times("0.000000000001")


@given(
    decimals(15, 8), st.builds(card_with, multipliers, multipliers, multipliers, multipliers), st.sampled_from(Rounding)
)
@example("999999999999999.99999999", card_with(WIDEST, WIDEST, WIDEST, WIDEST), Rounding.CEIL)
@example("0.00000001", card_with(FINEST, FINEST, FINEST, FINEST), Rounding.CEIL)
@example("999999999999999.99999999", card_with(WIDEST, FINEST, WIDEST, FINEST), Rounding.HALF_UP)
@settings(max_examples=300, deadline=None)
def test_the_formula_is_exact_against_fractions(amount: str, card: RateCard, rounding: Rounding) -> None:
    exact = Fraction(amount)
    for factor in (card.verticals["v"], card.eppf, card.payment_types["p"], card.tiers["member"]):
        exact *= Fraction(factor)
    expected = ROUNDED[rounding](exact)
    if expected > MAX_POINTS:
        with pytest.raises(SetAside) as aside:
            priced(amount, replace(card, rounding=rounding))
        assert aside.value.reason is Reason.OUT_OF_RANGE
        return
    points, explanation = priced(amount, replace(card, rounding=rounding))
    explained = json.loads(explanation)
    assert points == explained["points"] == expected
    assert re.fullmatch(r"[0-9]+(\.[0-9]+)?", explained["product"]), "every digit, no exponent"
    assert Fraction(explained["product"]) == exact
    assert explained["amount"] == amount


@pytest.mark.parametrize(
    ("amount", "vertical", "rounding", "outcome"),
    [
        ("1000000000", "1000000", Rounding.FLOOR, MAX_POINTS),
        ("1000000000.00000001", "1000000", Rounding.FLOOR, MAX_POINTS),
        ("1000000000.00000001", "1000000", Rounding.CEIL, None),
        ("1000000000.00000050", "1000000", Rounding.HALF_UP, None),
        ("1000000000.00000049", "1000000", Rounding.HALF_UP, MAX_POINTS),
        ("999999999999999.99999999", "1", Rounding.FLOOR, MAX_POINTS - 1),
        ("999999999999999.99999999", "1", Rounding.CEIL, MAX_POINTS),
        ("999999999999999.99999999", "2", Rounding.FLOOR, None),
    ],
)
def test_no_award_carries_more_than_the_most(
    amount: str, vertical: str, rounding: Rounding, outcome: int | None
) -> None:
    card = replace(card_with(times(vertical), times("1"), times("1"), times("1")), rounding=rounding)
    if outcome is None:
        with pytest.raises(SetAside, match=f"one award carries at most {MAX_POINTS}") as aside:
            priced(amount, card)
        assert aside.value.reason is Reason.OUT_OF_RANGE
    else:
        assert priced(amount, card)[0] == outcome


@pytest.mark.parametrize(
    ("vertical", "payment_type", "tier", "reason", "detail"),
    [
        ("yachts", "p", "member", Reason.UNKNOWN_VERTICAL, "vertical 'yachts' is not on the card of SG"),
        ("v", "barter", "member", Reason.UNKNOWN_PAYMENT_TYPE, "payment type 'barter' is not on the card of SG"),
        ("v", "p", "diamond", Reason.UNKNOWN_TIER, "tier 'diamond' is not on the card of SG"),
    ],
)
def test_what_a_card_does_not_price(vertical: str, payment_type: str, tier: str, reason: Reason, detail: str) -> None:
    with pytest.raises(SetAside) as aside:
        rate_of(PublishedCard(card_with(WIDEST, WIDEST, WIDEST, WIDEST), 3), vertical, payment_type, tier)
    assert (aside.value.reason, aside.value.detail) == (reason, detail)
