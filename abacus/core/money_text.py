"""Sums of money as people write them."""

from decimal import Decimal, InvalidOperation

from abacus.core.errors import Refused


def read_sum(text: str) -> Decimal:
    """Raises `Refused`."""
    try:
        money = Decimal(text)
    except InvalidOperation:
        raise Refused(f"{text!r} is not a sum; write it as 1250.00") from None
    if not money.is_finite():
        raise Refused(f"{text!r} is not a sum; write it as 1250.00")
    return money
