"""A month's movements of points as entries of a general ledger: double, balanced, in money. Pure.

A transfer stands in the month in which it was posted, as in the rollforward. So a transaction of a closed month that is
posted later is booked in the month of its posting, and a closed month never changes.
"""

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from functools import partial
from typing import NamedTuple

from abacus.core.errors import Refused
from abacus.core.points import EXACT
from abacus.oversight.closing.decide.account_map import Mapped
from abacus.oversight.closing.decide.obstacles import Obstacle
from abacus.oversight.reports.decide.assumption import Assumption, AssumptionBook
from abacus.oversight.reports.decide.liability import in_money
from abacus.oversight.reports.decide.rollforward import SIGNS, Movement
from abacus.programs.expiry.decide.month import Month


class JournalLine(NamedTuple):
    """One side of an entry. `points` is the figure of the rollforward, on both sides of its entry."""

    entry: int
    date: date
    account: str
    debit: Decimal
    credit: Decimal
    currency: str
    program: str
    country: str
    kind: str
    points: int
    cost_per_point: Decimal
    assumption: str


def journal(
    movements: Iterable[Movement], month: Month, mapping: Mapped, book: AssumptionBook, *, decimals: int
) -> list[JournalLine]:
    """Two lines for each figure of the rollforward by country that is not zero, at the cost of a point by the
    assumption in force at the month's end. Raises `Refused` where an account or a cost is missing.
    """
    lines: list[JournalLine] = []
    for movement in movements:
        for kind in SIGNS:
            if points := getattr(movement, kind):
                accounts = mapping.accounts(movement.program, movement.country, kind)
                assumption, cost = _cost(book, movement.program, movement.country, month)
                side = JournalLine(
                    entry=len(lines) // 2 + 1,
                    date=month.last_day,
                    account="",
                    debit=in_money(Decimal(0), decimals),
                    credit=in_money(Decimal(0), decimals),
                    currency=assumption.estimate.currency,
                    program=movement.program,
                    country=movement.country,
                    kind=kind,
                    points=points,
                    cost_per_point=cost,
                    assumption=assumption.name,
                )
                amount = in_money(EXACT.multiply(Decimal(abs(points)), cost), decimals)
                debit, credit = accounts if points > 0 else reversed(accounts)
                lines += [side._replace(account=debit, debit=amount), side._replace(account=credit, credit=amount)]
    return lines


class JournalSum(NamedTuple):
    """The entries in one currency, added up."""

    currency: str
    entries: int
    debit: Decimal
    credit: Decimal


def sums_of(lines: Iterable[JournalLine]) -> list[JournalSum]:
    by_currency: dict[str, list[JournalLine]] = {}
    for line in lines:
        by_currency.setdefault(line.currency, []).append(line)
    return [
        JournalSum(
            currency,
            len({line.entry for line in these}),
            sum((line.debit for line in these), Decimal()),
            sum((line.credit for line in these), Decimal()),
        )
        for currency, these in sorted(by_currency.items())
    ]


def lacking(movements: Iterable[Movement], month: Month, mapping: Mapped, book: AssumptionBook) -> list[Obstacle]:
    """Each account and each cost without which there is no journal."""
    found: dict[Obstacle, None] = {}
    for movement in movements:
        for kind in [kind for kind in SIGNS if getattr(movement, kind)]:
            for name, asked in (
                ("accounts", partial(mapping.accounts, kind=kind)),
                ("cost", partial(_cost, book, month=month)),
            ):
                try:
                    asked(movement.program, movement.country)
                except Refused as fault:
                    found[Obstacle(name, str(fault))] = None
    return list(found)


def _cost(book: AssumptionBook, program: str, country: str, month: Month) -> tuple[Assumption, Decimal]:
    assumption = book.in_force((program, country), month.last_day)
    if assumption is None or assumption.estimate.cost_per_point is None:
        raise Refused(
            f"no cost of a point of {program} in {country} is assumed by the end of {month}; set it with `abacus report"
            f" assumptions set --program {program} --country {country} --from {month}-01 --cost-per-point …`"
        )
    return assumption, assumption.estimate.cost_per_point
