"""The days that a report is about, as they are written on the command line."""

from datetime import date, datetime, timedelta
from typing import Annotated, Final

import typer

from abacus.cli.terminal.sheets import read_day
from abacus.core.clock import latest_day
from abacus.core.errors import Refused

_DAYS: Final = timedelta(days=29)  # and the last one

DayFrom = Annotated[
    str | None,
    typer.Option("--from", metavar="DAY", help="The first day, or month. Default: thirty days up to the last day."),
]
DayTo = Annotated[
    str | None, typer.Option("--to", metavar="DAY", help="The last day, or month, included. Default: today.")
]


def days_of(begin: str | None, end: str | None, now: datetime) -> tuple[date, date]:
    """The first day and the last. Raises `Refused`."""
    last = read_day(end, "--to", last=True) if end is not None else latest_day(now)
    first = read_day(begin, "--from", last=False) if begin is not None else last - _DAYS
    if last < first:
        raise Refused(f"--to: {last} is before {first}")
    return first, last
