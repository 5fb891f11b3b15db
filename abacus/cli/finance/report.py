"""`abacus report`: the books of points, for finance."""

from datetime import datetime
from typing import Annotated

import typer

from abacus.cli.terminal.known import check_begun
from abacus.cli.terminal.sheets import Decimals, Report, read_day, reading
from abacus.cli.terminal.shell import CommandGroup
from abacus.core.clock import SystemClock
from abacus.oversight.reports.accounts import Due, balances
from abacus.oversight.reports.accounts import ageing as read_ageing
from abacus.oversight.reports.assumption_store import assumptions
from abacus.oversight.reports.benefits import benefits as read_benefits
from abacus.oversight.reports.cohort_store import cohorts as read_cohorts
from abacus.oversight.reports.decide.benefits import BenefitRow
from abacus.oversight.reports.decide.by import By, not_asked_for
from abacus.oversight.reports.decide.cohort import Cohort
from abacus.oversight.reports.decide.liability import Liability
from abacus.oversight.reports.decide.liability import liability as in_money
from abacus.oversight.reports.decide.months import MonthRow, by_month
from abacus.oversight.reports.decide.rollforward import Movement, Tie
from abacus.oversight.reports.decide.sheet import sheet
from abacus.oversight.reports.homes import Homes, homes
from abacus.oversight.reports.months import moved
from abacus.oversight.reports.movements import rollforward as read_rollforward
from abacus.programs.expiry.decide.month import Month

app = CommandGroup(help="The books of points: movements, liability, ageing, cohorts, revenue.", no_args_is_help=True)

Parted = Annotated[
    list[By] | None, typer.Option("--by", help="Part the rows by this as well as by program; may be repeated.")
]
AtDay = Annotated[
    str | None, typer.Option("--at", metavar="YYYY-MM-DD", help="At the end of this day or month. Default: now.")
]


@app.command()
async def rollforward(
    month: Annotated[str, typer.Option("--month", metavar="YYYY-MM", help="A month, by the clock of each country.")],
    by: Parted = None,
) -> Report:
    """Show a month's opening points, movements and closing points, and that they tie to the ledger. Exit 1 when they
    do not.
    """
    wanted, parts, now = Month.parse(month), frozenset(by or ()), SystemClock().now()
    async with reading(f"the books of {wanted}") as (connection, book):
        where = await homes(connection, book, now)
        books = await read_rollforward(connection, where, wanted, parts)
    running = " (not over yet)" if any(now < end for end in where.end(wanted.last_day)) else ""
    movements = sheet("rows", f"Points in {wanted}{running}", Movement, books.movements, not_asked_for(parts))
    ties = sheet("ties", "Against the accounts", Tie, books.ties)
    about = {"month": str(wanted), "over": not running, "tied": books.tied}
    fault = None if books.tied else "the books do not tie to the accounts; `abacus ledger verify` names the rows"
    return Report(movements, about, [movements, ties], fault=fault)


@app.command()
async def months(
    month: Annotated[str, typer.Option("--month", metavar="YYYY-MM", help="The last of the months.")],
    number: Annotated[int, typer.Option("--months", min=1, max=120, help="How many.")] = 12,
    decimals: Decimals = 2,
) -> Report:
    """Show months beside each other: the movements of each, the points held at its end, and their expected cost."""
    last, now = Month.parse(month), SystemClock().now()
    async with reading(f"the months up to {last}") as (connection, book):
        where = await homes(connection, book, now)
        rows = by_month(
            await moved(connection, where, last), last, number, await assumptions(connection), decimals=decimals
        )
    return Report(sheet("rows", f"Points by month up to {last}", MonthRow, rows), {"month": str(last)})


@app.command()
async def liability(
    at: AtDay = None,
    decimals: Decimals = 2,
) -> Report:
    """Show the points that members hold, and their expected cost. Exit 1 when accounts do not tie."""
    now = SystemClock().now()
    day = read_day(at, "--at", last=True) if at else now.date()
    if at:
        check_begun(read_day(at, "--at", last=False), now)
    async with reading("what members hold") as (connection, book):
        where = await homes(connection, book, now)
        held = await balances(connection, where, _until(where, at))
        rows = in_money(held, await assumptions(connection), day, decimals)
    apart = sum(each.apart for each in held)
    title = f"Points outstanding {f'at the end of {day}' if at else 'now'}"
    fault = f"{apart:,} accounts are apart from their transfers; see `abacus ledger verify`" if apart else None
    return Report(sheet("rows", title, Liability, rows), {"at": str(day), "tied": not apart}, fault=fault)


@app.command()
async def benefits(
    month: Annotated[str, typer.Option("--month", metavar="YYYY-MM", help="A month, by the clock of each country.")],
    decimals: Decimals = 2,
) -> Report:
    """Show what offers gave and rewards cost in a month, by the cost centre or partner that pays."""
    wanted, now = Month.parse(month), SystemClock().now()
    async with reading(f"offers and rewards of {wanted}") as (connection, book):
        where = await homes(connection, book, now)
        found = await read_benefits(connection, book, where, wanted, decimals=decimals, now=now)
    return Report(sheet("rows", f"Offers and rewards in {wanted}", BenefitRow, found), {"month": str(wanted)})


@app.command()
async def ageing() -> Report:
    """Show the points that will lapse with each month's end, as things stand."""
    async with reading("what will lapse") as (connection, _):
        rows = await read_ageing(connection)
    return Report(sheet("rows", "Lapses with the end of", Due, rows))


@app.command()
async def cohorts(at: AtDay = None, by: Parted = None) -> Report:
    """Show how many of each month's points were spent, lapsed or are left: oldest points leave first."""
    parts, now = frozenset(by or ()), SystemClock().now()
    if at:
        check_begun(read_day(at, "--at", last=False), now)
    async with reading("what became of the points") as (connection, book):
        where = await homes(connection, book, now)
        rows = await read_cohorts(connection, where, _until(where, at), parts)
    title = f"Points by the month in which they came{f', at the end of {at}' if at else ''}"
    return Report(sheet("rows", title, Cohort, rows, not_asked_for(parts)), {"at": at})


def _until(where: Homes, at: str | None) -> list[datetime]:
    """The end of the day in each country; without a day, a time that is later than any posting so far."""
    return where.end(read_day(at, "--at", last=True)) if at else where.whenever()
