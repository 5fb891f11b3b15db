"""The points outstanding at a date, and their expected cost. Pure; `accounts` reads the points."""

from collections.abc import Iterable
from datetime import date
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Final, NamedTuple

from abacus.core.points import EXACT
from abacus.oversight.reports.decide.assumption import AssumptionBook, Pair, percent


class ProgramBalance(NamedTuple):
    """The balances of one program in one country. `owed` is the sum of the negative balances, which members owe, and
    `pending` the points in the balances that had not vested; `held_for_exchanges` were asked for by members, and their
    partners had not decided.
    """

    program: str
    country: str
    members: int
    outstanding: int
    owed: int
    pending: int
    held_for_exchanges: int
    recorded: int
    accounts: int
    apart: int

    @property
    def points(self) -> int:
        return self.outstanding + self.owed

    @property
    def ties(self) -> bool:
        """Whether the sums agree and no single account is apart: sums may agree by luck."""
        return not self.apart and self.points == self.recorded == self.accounts


_AMOUNTS: Final = Context(prec=EXACT.prec, rounding=ROUND_HALF_UP)


class Liability(NamedTuple):
    """Members' points in one program and country. `owed` is what members owe, negative, and never set off. `pending`
    points are among the balances, and cannot be spent before they vest. Neither can those that are
    `held_for_exchanges`, which leave or come back by their partners' word.

    `liability` = outstanding × expected use × cost of a point, by the assumption in force that day; empty without one.
    """

    program: str
    country: str
    members: int
    outstanding: int
    owed: int
    pending: int
    held_for_exchanges: int
    expected_use: str | None
    cost_per_point: Decimal | None
    liability: Decimal | None
    currency: str | None
    assumption: str | None


class Cost(NamedTuple):
    """The expected cost of points, and the assumption behind it."""

    expected_use: str | None = None
    cost_per_point: Decimal | None = None
    amount: Decimal | None = None
    currency: str | None = None
    assumption: str | None = None


def liability(balances: Iterable[ProgramBalance], book: AssumptionBook, day: date, decimals: int) -> list[Liability]:
    return [
        Liability(
            each.program,
            each.country,
            each.members,
            each.outstanding,
            each.owed,
            each.pending,
            each.held_for_exchanges,
            *cost(each.outstanding, (each.program, each.country), book, day, decimals),
        )
        for each in balances
    ]


def cost(points: int, pair: Pair, book: AssumptionBook, day: date, decimals: int) -> Cost:
    """The expected cost of the points, rounded once to the currency's decimals; points may be negative."""
    assumption = book.in_force(pair, day)
    if assumption is None:
        return Cost()
    use, price = assumption.estimate.expected_use, assumption.estimate.cost_per_point
    if price is None:
        return Cost(percent(use), currency=assumption.estimate.currency, assumption=assumption.name)
    exact = EXACT.multiply(EXACT.multiply(Decimal(points), use), price)
    return Cost(percent(use), price, in_money(exact, decimals), assumption.estimate.currency, assumption.name)


def in_money(amount: Decimal, decimals: int) -> Decimal:
    """The amount rounded to `decimals`, half up, away from zero."""
    return _AMOUNTS.quantize(amount, Decimal(1).scaleb(-decimals))
