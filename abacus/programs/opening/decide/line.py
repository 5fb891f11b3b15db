"""A line of the file, and the opening balance in it. Pure."""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final, NamedTuple

from abacus.core.errors import Refused
from abacus.core.ids import PROGRAM_PATTERN
from abacus.core.members import cut, fault_of_member
from abacus.core.points import MAX_POINTS
from abacus.ledger.decide.opening_balance import OpeningBalance

COLUMNS: Final = ("member_id", "program", "country", "balance", "expires_on")

_TIERS: Final = "the column 'tier': tiers are not imported; `abacus tiers set` sets one, and points earned bring them"
_LAST_YEAR: Final = 2109

_is_program = re.compile(PROGRAM_PATTERN).fullmatch
_is_day = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}").fullmatch
_is_balance = re.compile(r"[0-9]{1,16}").fullmatch


class BalanceLine(NamedTuple):
    """A line's values, in the order of `COLUMNS`. A value that was left out is an empty text."""

    number: int
    values: tuple[str, ...]


class Fault(NamedTuple):
    """Why a line cannot be imported. `field` is empty where it is about the line as a whole."""

    line: int
    field: str
    problem: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.field + ': ' if self.field else ''}{self.problem}"


class Known(NamedTuple):
    """The programs that have points, the present day in each country, and where each lot lapses by itself."""

    programs: frozenset[str]
    today: Mapping[str, date]
    by_lots: frozenset[str] = frozenset()


def order_of(header: Sequence[str]) -> tuple[int, ...]:
    """The place of each of `COLUMNS`. Raises `Refused` when a column is missing, repeated, or not known."""
    if not header:
        raise Refused(f"it is empty; the first line has to name {', '.join(COLUMNS)}")
    names = [name.strip() for name in header]
    if "tier" in names:
        raise Refused(_TIERS)
    wrong = [
        *(f"no column {name!r}" for name in COLUMNS if name not in names),
        *(f"the column {name!r} is not known" for name in dict.fromkeys(names) if name not in COLUMNS),
        *(f"the column {name!r} stands there twice" for name in COLUMNS if names.count(name) > 1),
    ]
    if wrong:
        raise Refused(f"{'; '.join(wrong)}; the first line has to name {', '.join(COLUMNS)}, in any order")
    return tuple(names.index(name) for name in COLUMNS)


def read_line(line: BalanceLine, known: Known) -> OpeningBalance | list[Fault]:
    """The opening balance, or all faults of the line."""
    member_id, program, country, balance, expires_on = line.values
    points = int(balance) if _is_balance(balance) else None
    day = _day(expires_on)
    problems = {
        "member_id": fault_of_member(member_id),
        "program": _of_program(program, known),
        "country": None if country in known.today else f"{cut(country)}: no rate card has this scope",
        "balance": _of_balance(balance, points),
        "expires_on": _of_day(expires_on, day, points, known.today.get(country)),
    }
    faults = [Fault(line.number, field, problem) for field, problem in problems.items() if problem]
    return faults or OpeningBalance(member_id, program, country, points or 0, day, country in known.by_lots)


def _of_program(program: str, known: Known) -> str | None:
    if program in known.programs:
        return None
    return f"{cut(program)}: no rate card issues these points" if _is_program(program) else f"{cut(program)}: no name"


def _of_balance(balance: str, points: int | None) -> str | None:
    if points is None:
        return f"{cut(balance)} is not a whole number of points, 0 or more"
    return f"{points} is more than an account can be opened with: {MAX_POINTS}" if points > MAX_POINTS else None


def _of_day(text: str, day: date | None, points: int | None, today: date | None) -> str | None:
    if day is None:
        return None if points == 0 and not text else f"{cut(text)}: a day like 2026-07-31 is needed"
    if points and today is not None and day < today:
        return f"{day} is over; what has lapsed is not brought along: leave the line out, or make the balance 0"
    return None


def _day(text: str) -> date | None:
    if _is_day(text) is None:
        return None
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if day.year <= _LAST_YEAR else None
