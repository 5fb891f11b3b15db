"""The months of the books, the newest first: which are closed, and by whom. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from abacus.oversight.closing.decide.record import Signed, closed_months
from abacus.programs.expiry.decide.month import Month

_AT_LEAST: Final = 6


@dataclass(frozen=True)
class MonthLine:
    """`by` and `at` are of the last act; `state` is closed, reopened or open."""

    month: str
    state: str
    by: str | None = None
    at: datetime | None = None


def months_of(record: Sequence[Signed], last: Month) -> list[MonthLine]:
    """The half year up to the last month that is over, and every month with an act."""
    acts = {each.month: each for each in sorted(record, key=lambda each: each.number)}
    months, month = set(acts), last
    for _ in range(_AT_LEAST):
        months.add(month)
        month = month.before
    return [_line(each, acts.get(each)) for each in sorted(months, reverse=True)]


def next_of(record: Sequence[Signed], last: Month) -> Month:
    """The month that is to be closed next: the one after the last that is closed, or else the last that is over."""
    closed = closed_months(record)
    return closed[-1].after if closed else last


def _line(month: Month, last: Signed | None) -> MonthLine:
    if last is None:
        return MonthLine(str(month), "open")
    return MonthLine(str(month), str(last.act), last.signed_by, last.signed_at)
