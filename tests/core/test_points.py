"""Points and money: the one rounding, and decimals as people write them."""

from decimal import Decimal, Inexact, InvalidOperation, Overflow

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abacus.core.points import EXACT, ROUND, Rounding, plain

FLOOR, HALF_UP, CEIL = (ROUND[rounding] for rounding in Rounding)


@pytest.mark.parametrize(
    ("product", "floor", "half_up", "ceil"),
    [
        ("0", 0, 0, 0),
        ("0.00", 0, 0, 0),
        ("0.00000000000000000000000000000000000000000000000000000001", 0, 0, 1),
        ("0.49999999999999999999999999999999999999999999999999999999", 0, 0, 1),
        ("0.5", 0, 1, 1),
        ("1", 1, 1, 1),
        ("1.00", 1, 1, 1),
        ("1.5", 1, 2, 2),
        ("2.5", 2, 3, 3),
        ("434.99999999999994315658", 434, 435, 435),
        ("435.00", 435, 435, 435),
        ("599999999.9999940", 599_999_999, 600_000_000, 600_000_000),
        ("1E+3", 1000, 1000, 1000),
        (f"{'9' * 40}.5", 10**40 - 1, 10**40, 10**40),
    ],
)
def test_rounding(product: str, floor: int, half_up: int, ceil: int) -> None:
    assert [rounded(Decimal(product)) for rounded in (FLOOR, HALF_UP, CEIL)] == [floor, half_up, ceil]


@given(digits=st.integers(0, 10**60), places=st.integers(0, 60))
@settings(deadline=None)
def test_rounding_is_what_integers_say(digits: int, places: int) -> None:
    product, unit = Decimal(digits).scaleb(-places, EXACT), 10**places
    assert FLOOR(product) == digits // unit
    assert HALF_UP(product) == (2 * digits + unit) // (2 * unit)
    assert CEIL(product) == -(-digits // unit)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Decimal("15.00"), "15.00"),
        (Decimal("1.50E+3"), "1500"),
        (Decimal("5E-5"), "0.00005"),
        (Decimal(100).normalize(), "100"),
        (Decimal("0E-10"), "0.0000000000"),
    ],
)
def test_decimals_as_people_write_them(value: Decimal, text: str) -> None:
    assert plain(value) == text


@pytest.mark.parametrize(
    ("left", "right", "outcome"),
    [
        (Decimal("1." + "1" * 119), Decimal("1.1"), Inexact),
        (Decimal("1E+999999"), Decimal(10), Overflow),
        (Decimal("sNaN"), Decimal(1), InvalidOperation),
        (Decimal("Infinity"), Decimal(0), InvalidOperation),
    ],
    ids=["too many digits", "too large", "not a number", "infinite"],
)
def test_the_exact_context_raises_where_it_would_have_to_round(
    left: Decimal, right: Decimal, outcome: type[Exception]
) -> None:
    with pytest.raises(outcome):
        EXACT.multiply(left, right)
