"""`abacus pulse`: points a minute, and how long they took to come."""

from typing import Annotated, Final

import typer

from abacus.cli.terminal.answer import Answer, Columns, Table
from abacus.cli.terminal.known import check_country
from abacus.cli.terminal.shell import pool
from abacus.core.clock import SystemClock
from abacus.intake.pulse.decide.steps import Beat, Range, beats
from abacus.intake.pulse.store import PulseStore

_COLUMNS: Final[Columns[Beat]] = {
    "since": lambda each: each.since,
    "awards a minute": lambda each: f"{each.awards:,.0f}",
    "points a minute": lambda each: f"{each.points:,.0f}",
    "half within": lambda each: _within(each.half_s),
    "99 % within": lambda each: _within(each.nearly_all_s),
}


async def pulse(
    over: Annotated[Range, typer.Option("--range", help="How far back to look.")] = Range.HOUR,
    country: Annotated[str | None, typer.Option(help="Only awards of this country.")] = None,
) -> Answer:
    """Show points a minute, and how long they took to come: an hour by minutes, a day or a week by quarters of an hour.

    Those who post write these sums every few seconds; one that is killed takes its last ones with it. The ledger has
    every point.
    """
    check_country(country)
    now = SystemClock().now()
    async with pool() as database:
        sums = await PulseStore(database).since(over.step, over.begins(now), None if country is None else [country])
    found = beats(sums, over, now)
    return Answer([each._asdict() for each in found], Table.of("Points", found, _COLUMNS))


def _within(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:,g} s"
