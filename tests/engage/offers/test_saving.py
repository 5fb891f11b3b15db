"""What a benefit gives on a line, to the smallest unit."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.engage.offers.decide.currencies import money_text, units_of
from abacus.engage.offers.decide.offer import BenefitKind
from abacus.engage.offers.decide.saving import formula_of
from tests.engage.offers.examples import AMOUNT, FIXED, FREE, PERCENT, PLUS, TIMES, benefit


@pytest.mark.parametrize(
    ("kind", "figure", "cap", "price", "pieces", "given"),
    [
        (PERCENT, "10", None, 1200, 1, 120),
        (PERCENT, "10", None, 1200, 3, 360),  # of the line
        (PERCENT, "10", "5", 6000, 1, 500),
        (PERCENT, "33.333", None, 995, 1, 332),
        (PERCENT, "50", None, 1, 1, 1),  # half up
        (PERCENT, "49", None, 1, 1, 0),
        (PERCENT, "100", None, 777, 1, 777),
        (AMOUNT, "3", None, 1500, 4, 300),  # once a line
        (AMOUNT, "25", None, 2200, 1, 2200),  # never more than the line
        (FIXED, "9.90", None, 1450, 1, 460),
        (FIXED, "9.90", None, 1450, 2, 920),  # each piece
        (FIXED, "9.90", None, 900, 1, 0),
        (FIXED, "9.90", "5", 1450, 2, 500),
        (FREE, "0", None, 450, 3, 450),  # one piece
        (FREE, "0", "4", 450, 3, 400),
        (TIMES, "3", None, 0, 1, 200),  # two more times the hundred points that the purchase earns by itself
        (TIMES, "1.5", None, 0, 1, 50),
        (TIMES, "3", "150", 0, 1, 150),
        (PLUS, "75", None, 0, 1, 75),
        (PLUS, "75", "50", 0, 1, 50),
    ],
)
def test_given(*, kind: BenefitKind, figure: str, cap: str | None, price: int, pieces: int, given: int) -> None:
    line = 100 if kind.is_points else price * pieces
    assert formula_of(benefit(kind, figure, cap), "SGD").given(line, price, pieces) == given


@given(
    st.sampled_from([PERCENT, AMOUNT, FIXED, FREE]),
    st.decimals("0.01", 100, places=2),
    st.none() | st.decimals("0.01", 50, places=2),
    st.tuples(st.integers(0, 10_000), st.integers(1, 5)),
    st.integers(0, 10_000),
)
def test_no_line_up_to_an_amount_saves_more_than_one_piece_of_that_amount(
    kind: BenefitKind, figure: Decimal, cap: Decimal | None, of: tuple[int, int], more: int
) -> None:
    """By this the index knows when to stop."""
    formula = formula_of(benefit(kind, str(figure), None if cap is None else str(cap)), "SGD")
    price, pieces = of
    most = price * pieces + more
    assert formula.given(price * pieces, price, pieces) <= formula.given(most, most, 1) <= most


@pytest.mark.parametrize(
    ("amount", "currency", "units", "text"),
    [
        ("4.20", "SGD", 420, "4.20"),
        ("4", "SGD", 400, "4.00"),
        ("0", "SGD", 0, "0.00"),
        ("0.05", "SGD", 5, "0.05"),
        ("-12.30", "SGD", -1230, "-12.30"),
        ("1500", "JPY", 1500, "1500"),
        ("1.234", "KWD", 1234, "1.234"),
        ("1E+3", "SGD", 100_000, "1000.00"),
    ],
)
def test_smallest_units(amount: str, currency: str, units: int, text: str) -> None:
    assert units_of(Decimal(amount), currency) == units
    assert money_text(units, currency) == text


@pytest.mark.parametrize(("amount", "currency"), [("4.205", "SGD"), ("0.5", "VND")])
def test_an_amount_with_smaller_parts_is_refused(amount: str, currency: str) -> None:
    with pytest.raises(ValueError, match=f"{amount} has more than the .* decimals of {currency}"):
        units_of(Decimal(amount), currency)
