"""Points are integers, money and multipliers are decimals, and a float never becomes either."""

import math
from collections.abc import Callable, Mapping
from decimal import Context, Decimal, Inexact, InvalidOperation, Overflow
from enum import StrEnum
from typing import Final, NewType

Points = NewType("Points", int)
Money = NewType("Money", Decimal)
Multiplier = NewType("Multiplier", Decimal)

MAX_POINTS: Final = 10**15  # per award; exact in every JSON reader, and far from the ledger's 64 bits

# Wide enough for any amount times any four multipliers that a card or a transaction may carry. Were a product ever
# longer, the context raises rather than rounds: rounding happens once, at the end, by `ROUND`.
EXACT: Final = Context(prec=120, traps=[Inexact, InvalidOperation, Overflow])


class Rounding(StrEnum):
    """How the exact product becomes whole points; `ROUND` does it."""

    FLOOR = "floor"
    HALF_UP = "half_up"
    CEIL = "ceil"


def _half_up(product: Decimal) -> int:
    return int(product.to_integral_value("ROUND_HALF_UP"))


ROUND: Final[Mapping[Rounding, Callable[[Decimal], int]]] = {
    Rounding.FLOOR: math.floor,
    Rounding.HALF_UP: _half_up,
    Rounding.CEIL: math.ceil,
}


def money(text: str) -> Money:
    """The amount in a text of plain digits; the reader of the message has checked the text."""
    return Money(Decimal(text))


def plain(value: Decimal) -> str:
    """The decimal as people write it: every digit, no exponent."""
    text = str(value)  # five times as quick as formatting, and the same but for very small and very large values
    return format(value, "f") if "E" in text else text
