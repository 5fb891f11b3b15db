"""The figures of an offer as its document writes them: money, percentages and gates. Pure."""

from collections.abc import Callable
from decimal import Decimal
from typing import Final

from abacus.core import fields
from abacus.core.fields import Bad, Fields, quoted
from abacus.engage.offers.decide.offer import OPEN, Gate
from abacus.pricing.decide.figures import multiplier

MOST_PIECES: Final = 1_000_000
_PERCENT: Final = Decimal(100)
_PERCENT_DECIMALS: Final = 4
_LARGEST: Final = Decimal(10) ** 10

Read = Callable[[object], Decimal]


def money(decimals: int, *, least: Decimal = Decimal(0)) -> Read:
    """An amount that can be paid in the currency: above `least`, or at least nothing where that is below."""

    def read(value: object) -> Decimal:
        amount = multiplier(value)
        if amount <= least:
            raise Bad(f"{quoted(str(value))}; write an amount of money above {least}")
        if amount != round(amount, decimals):
            raise Bad(f"{quoted(str(value))} has more decimals than the {decimals} that the currency has")
        if amount > _LARGEST:
            raise Bad(f"{quoted(str(value))} is more than {_LARGEST:,}")
        return amount

    return read


def price(decimals: int) -> Read:
    """As `money`, and it may be nothing."""
    return money(decimals, least=Decimal(-1))


def percent(value: object) -> Decimal:
    figure = multiplier(value)
    if not 0 < figure <= _PERCENT:
        raise Bad(f"{quoted(str(value))}; write a percentage above 0 and up to 100")
    if figure != round(figure, _PERCENT_DECIMALS):
        raise Bad(f"{quoted(str(value))} has more than {_PERCENT_DECIMALS} decimals")
    return figure


def pieces(value: object) -> Decimal:
    return Decimal(fields.whole(1, MOST_PIECES)(value))


def read_gate(top: Fields, name: str, read: Read) -> Gate:
    """A table with `from`, `below` or both."""
    table = top.table(name, optional=True)
    if name not in top.values:
        return OPEN
    least = table.read_if_there("from", read, OPEN.least)
    below = table.read_if_there("below", read, None)
    if not table.values and not table.is_absent:
        top.note(name, "empty; write from, below or both")
    if below is not None and below <= least:
        table.note("below", f"{below} is not above {least}: nothing lies between")
    table.refuse_unknown()
    return Gate(least, below)
