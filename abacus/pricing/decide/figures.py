"""The values of a card's fields. Pure; `card` names the fields."""

import re
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from typing import Final

from abacus.core.fields import Bad, one_of, quoted, shown, whole
from abacus.core.points import MAX_POINTS, Multiplier, Points, Rounding, plain

MAX_DIGITS: Final = 12  # before the point and after it: so any product stays within `core.points.EXACT`
_DECIMAL: Final = re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?")


def multiplier(value: object) -> Multiplier:
    if not isinstance(value, str):
        raise Bad(f"{shown(value)}; {_as_string(value)}")
    match = _DECIMAL.fullmatch(value)
    if match is None:
        raise Bad(f'{quoted(value)} is not a plain decimal number such as "1.5"')
    sign, whole_digits, fraction = match.groups(default="")
    if sign:
        raise Bad(f"{quoted(value)} is negative")
    if len(whole_digits) > MAX_DIGITS or len(fraction) > MAX_DIGITS:
        raise Bad(f"{quoted(value)} has more than {MAX_DIGITS} digits before or after the point")
    return Multiplier(Decimal(value))


def amount(value: object) -> Decimal:
    """Money of a card: more than nothing."""
    money = multiplier(value)
    if not money:
        raise Bad(f"{quoted(str(value))} is nothing; write an amount above 0")
    return money


def points(lowest: int) -> Callable[[object], Points]:
    read = whole(lowest, MAX_POINTS)
    return lambda value: Points(read(value))


rounding: Final = one_of(Rounding, "a rounding")


def _as_string(value: object) -> str:
    """The remedy for a multiplier without quotes: the number itself where that is a good one, else an example."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        text = plain(Decimal(value if isinstance(value, int) else repr(value)))
        with suppress(Bad):
            multiplier(text)
            return f'write it as a string, "{text}"'
    return 'write a multiplier as a string, such as "1.5"'
