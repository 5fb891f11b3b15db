"""Points are integers, money and multipliers are decimals, and a float never becomes either."""

from decimal import Context, Decimal, Inexact, InvalidOperation, Overflow
from enum import StrEnum
from typing import Final, NewType

Points = NewType("Points", int)
Money = NewType("Money", Decimal)
Multiplier = NewType("Multiplier", Decimal)

MAX_POINTS: Final = 10**15  # per award; exact in every JSON reader, and far from the ledger's 64 bits

# Wide enough for any amount times any four multipliers that a card or a transaction may carry. Were a product ever
# longer, the context raises rather than rounds: rounding happens once, at the end, in `round_points`.
EXACT: Final = Context(prec=120, traps=[Inexact, InvalidOperation, Overflow])


class Rounding(StrEnum):
    """How the exact product becomes whole points. `DECIMAL_MODE` has the names that `decimal` gives these."""

    FLOOR = "floor"
    HALF_UP = "half_up"
    CEIL = "ceil"


DECIMAL_MODE: Final = {
    Rounding.FLOOR: "ROUND_FLOOR",
    Rounding.HALF_UP: "ROUND_HALF_UP",
    Rounding.CEIL: "ROUND_CEILING",
}


def money(text: str) -> Money:
    """The amount that a text of plain digits says; reading the message has checked that it is one."""
    return Money(Decimal(text))


def round_points(product: Decimal, decimal_mode: str) -> Points:
    """The one rounding of a calculation, by a mode of `DECIMAL_MODE`."""
    return Points(int(product.to_integral_value(decimal_mode)))


def plain(value: Decimal) -> str:
    """The decimal as people write it: every digit, no exponent."""
    text = str(value)  # five times as quick as formatting, and the same but for very small and very large values
    return format(value, "f") if "E" in text else text
