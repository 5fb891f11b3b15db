"""`abacus expiry`: points that lapse at a month's end, and the job that takes them."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, Final

import typer
from rich.progress import Progress, TaskID

from abacus.cli.terminal.answer import Answer, Table, counted
from abacus.cli.terminal.command_actor import actor
from abacus.cli.terminal.known import check_priced
from abacus.cli.terminal.progress import bars, spinner
from abacus.cli.terminal.sheets import CsvReport
from abacus.cli.terminal.shell import CommandGroup, SeveralRefused, pool, settings, sqs
from abacus.core.clock import SystemClock
from abacus.core.errors import AbacusError, Refused
from abacus.oversight.reports.decide.sheet import sheet
from abacus.people.types.deed import Deed
from abacus.platform.sqs.definition import EXPIRY
from abacus.platform.sqs.queue import SqsQueue
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore
from abacus.programs.expiry.decide.month import Month
from abacus.programs.expiry.lapsing_sql import Expected
from abacus.programs.expiry.lapsing_sql import preview as look_ahead
from abacus.programs.expiry.runs import ExpiryRuns, Run
from abacus.programs.expiry.sweep import MonthEndJob, Task, of_all_due, of_month, zones_of

app = CommandGroup(help="Points that lapse.", no_args_is_help=True)

OnlyMonth = Annotated[str | None, typer.Option("--month", metavar="YYYY-MM", help="A month that is over.")]
OnlyCountry = Annotated[str | None, typer.Option("--country", metavar="SG", help="Only this country.")]

_LOOK_EVERY_S: Final = 0.5


@app.command("run")
async def run_month(
    month: OnlyMonth = None,
    country: OnlyCountry = None,
    due: Annotated[bool, typer.Option("--due", help="Every country and month that is due and not done.")] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Put the accounts that are not expired yet on the queue once more.")
    ] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Stay until the expirer is through.")] = False,
) -> Answer:
    """Find the members whose points lapse with a month's end and put them on the expiry queue.

    Without --month it takes the last month that is over in each country. A run that was cut off goes on where it
    stopped.
    """
    if due and month:
        raise Refused("--due finds the months itself; leave out --month")
    wanted = Month.parse(month) if month else None
    config = settings()
    async with actor() as at, sqs(config) as client:
        runs, book, now = ExpiryRuns(at.pool), CardBook(await CardStore(at.pool).all()), at.clock.now()
        tasks = await of_all_due(runs, book, country, now) if due else of_month(book, wanted, country, now)
        queue = await SqsQueue.find(client, config.queue_prefix + EXPIRY)
        await at.begins(Deed.EXPIRE, "job:expiry", country=country, month=month, due=due, again=again)
        done, refused = await _sweep_all(MonthEndJob(at.pool, queue, at.clock), tasks, again=again)
        if wait:
            done = await _watch(runs, done)
    if refused and not done:
        raise SeveralRefused(refused)
    return _answer(done, error=SeveralRefused(refused) if refused else None)


@app.command("preview")
async def preview(
    month: Annotated[str, typer.Option("--month", metavar="YYYY-MM", help="A month, over or to come.")],
    country: OnlyCountry = None,
) -> CsvReport:
    """Show whose points will lapse with a month's end as things stand, by country. Nothing is changed."""
    wanted = Month.parse(month)
    async with pool() as opened:
        book, now = CardBook(await CardStore(opened).all()), SystemClock().now()
        expected: list[Expected] = []
        for name, zone in zones_of(book, country, now):
            with_earlier = wanted.before.is_over(now, zone)
            expected += await look_ahead(opened, name, wanted, with_earlier=with_earlier)
    data = sheet("expected", f"Lapses with the end of {wanted}", Expected, expected)
    return CsvReport(data, {"month": str(wanted)})


@app.command("runs")
async def show_runs(month: OnlyMonth = None, country: OnlyCountry = None) -> Answer:
    """Show the record of each month's end: members found, enqueued, expired and skipped, and points."""
    async with pool() as opened:
        await check_priced(opened, country)
        records = await ExpiryRuns(opened).all(country, Month.parse(month) if month else None)
    return _answer(records)


async def _sweep_all(job: MonthEndJob, tasks: Sequence[Task], *, again: bool) -> tuple[list[Run], list[Refused]]:
    """Run all tasks; return the runs, and a refusal for each run that is under way already. It holds up no other
    country.
    """
    done: list[Run] = []
    refused: list[Refused] = []
    with spinner("{task.description}: {task.completed:,} on the queue") as progress:
        for task in tasks:
            bar = progress.add_task(f"{task.country} {task.month}", total=None)
            try:
                done.append(await job.run(task, partial(_advance, progress, bar), again=again))
            except Refused as error:
                refused.append(error)
    return done, refused


def _advance(progress: Progress, bar: TaskID, accounts: int) -> None:
    progress.update(bar, advance=accounts)


async def _watch(runs: ExpiryRuns, begun: Sequence[Run]) -> list[Run]:
    """Wait until the expirer has finished these runs."""
    with bars() as progress:
        bar = progress.add_task("expired or skipped", total=sum(each.found for each in begun))
        while True:
            now = [each for one in begun for each in await runs.all(one.country, Month.parse(one.month))]
            progress.update(bar, completed=sum(each.found - each.left for each in now))
            if all(each.finished_at is not None for each in now):
                return now
            await asyncio.sleep(_LOOK_EVERY_S)


def _answer(runs: Sequence[Run], *, error: AbacusError | None = None) -> Answer:
    counts = ("found", "enqueued", "expired", "skipped", "points")
    rows = [[each.country, each.month, *(getattr(each, name) for name in counts), _state(each)] for each in runs]
    shown = Table("Month's ends", ["country", "month", *counts, "state"], rows)
    return Answer({"runs": [_document(each) for each in runs]}, shown, error=error)


def _state(each: Run) -> str:
    if each.finished_at is not None:
        return f"done {each.finished_at.date()}"
    if each.swept_at is not None:
        return f"{counted(each.left, 'account')} with the expirer"
    return f"left off; `abacus expiry run --month {each.month} --country {each.country}` goes on"


def _document(each: Run) -> dict[str, Any]:
    return {
        "country": each.country,
        "month": each.month,
        "found": each.found,
        "enqueued": each.enqueued,
        "expired": each.expired,
        "skipped": each.skipped,
        "points": each.points,
        "started": each.started_at,
        "finished": each.finished_at,
    }
