"""The books of several months beside each other: what moved in each, and what was held at its end. Pure."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Final, NamedTuple

from abacus.oversight.reports.decide.assumption import AssumptionBook, Pair
from abacus.oversight.reports.decide.liability import cost
from abacus.oversight.reports.decide.rollforward import SIGNS
from abacus.programs.expiry.decide.month import Month


class Moved(NamedTuple):
    """What a month moved in a program and country. `outstanding` is the change of the balances above zero."""

    program: str
    country: str
    month: Month
    issued: int
    exchanged_in: int
    spent: int
    exchanged_out: int
    expired: int
    reversed: int
    adjusted: int
    outstanding: int


class MonthRow(NamedTuple):
    """A month as the rollforward has it, with what its liability report has at its end."""

    month: str
    program: str
    country: str
    opening: int
    issued: int
    exchanged_in: int
    spent: int
    exchanged_out: int
    expired: int
    reversed: int
    adjusted: int
    closing: int
    outstanding: int
    liability: Decimal | None
    currency: str | None
    assumption: str | None


_NOTHING: Final = [0] * (len(SIGNS) + 1)


def by_month(
    moved: Iterable[Moved], last: Month, number: int, book: AssumptionBook, *, decimals: int
) -> list[MonthRow]:
    """So many months up to the last one, from the first month of each program and country on."""
    months = [last]
    while len(months) < number:
        months.append(months[-1].before)
    months.reverse()
    by_pair: dict[Pair, dict[Month, Moved]] = {}
    for each in moved:
        by_pair.setdefault((each.program, each.country), {})[each.month] = each
    rows = [row for pair, line in by_pair.items() for row in _rows(pair, line, months, book, decimals)]
    return sorted(rows, key=lambda row: row[:3])


def _rows(
    pair: Pair, line: dict[Month, Moved], months: list[Month], book: AssumptionBook, decimals: int
) -> Iterable[MonthRow]:
    earlier = [each for month, each in line.items() if month < months[0]]
    closing, outstanding = sum(map(_change, earlier)), sum(each.outstanding for each in earlier)
    for month in months:
        if month < min(line):
            continue
        each = line.get(month, Moved(*pair, month, *_NOTHING))
        opening, closing, outstanding = closing, closing + _change(each), outstanding + each.outstanding
        costs = cost(outstanding, pair, book, month.last_day, decimals)
        yield MonthRow(
            month=str(month),
            program=each.program,
            country=each.country,
            opening=opening,
            closing=closing,
            outstanding=outstanding,
            liability=costs.amount,
            currency=costs.currency,
            assumption=costs.assumption,
            **{column: getattr(each, column) for column in SIGNS},
        )


def _change(each: Moved) -> int:
    return sum(sign * int(getattr(each, column)) for column, sign in SIGNS.items())
