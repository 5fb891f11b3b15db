"""Money in the smallest units of its currency, as ISO 4217 counts them. Pure."""

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final

_USUAL: Final = 2  # decimals of a currency
_REMEMBERED: Final = 20_000  # amounts: answers are full of them, and many are the same
_OTHERS: Final = {
    **dict.fromkeys(("BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG"), 0),
    **dict.fromkeys(("RWF", "UGX", "UYI", "VND", "VUV", "XAF", "XOF", "XPF"), 0),
    **dict.fromkeys(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"), 3),
    **dict.fromkeys(("CLF", "UYW"), 4),
}


def decimals_of(currency: str) -> int:
    """How many decimals the currency has."""
    return _OTHERS.get(currency, _USUAL)


def exact_units(amount: Decimal, currency: str) -> Fraction:
    """The amount in the smallest units of the currency, with what is smaller still."""
    scale: int = 10 ** decimals_of(currency)
    return Fraction(amount) * scale


def units_of(amount: Decimal, currency: str) -> int:
    """The amount in the smallest units of the currency. Raises `ValueError` for an amount that has smaller parts."""
    units = amount.scaleb(decimals_of(currency))
    if units != (whole := int(units)):
        raise ValueError(f"{amount} has more than the {decimals_of(currency)} decimals of {currency}")
    return whole


@lru_cache(maxsize=_REMEMBERED)
def money_text(units: int, currency: str) -> str:
    """The amount with all decimals of its currency: 4.20."""
    decimals = decimals_of(currency)
    if not decimals:
        return str(units)
    digits = str(abs(units)).rjust(decimals + 1, "0")  # quicker than decimals, and than a format
    return f"{'-' if units < 0 else ''}{digits[:-decimals]}.{digits[-decimals:]}"
