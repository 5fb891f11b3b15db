"""`abacus import`: opening balances from another system."""

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from abacus.cli.terminal.answer import EXIT_FAILED, Answer, Aside, counted
from abacus.cli.terminal.command_actor import actor
from abacus.cli.terminal.files import csv_file
from abacus.cli.terminal.progress import percents
from abacus.cli.terminal.shell import CommandGroup, pool, settings
from abacus.core.clock import Clock
from abacus.core.csv_text import CsvWriter
from abacus.core.errors import Refused, SetAside
from abacus.core.ids import NAME_PATTERN
from abacus.ledger.decide.opening_balance import Origin
from abacus.people.types.deed import Deed
from abacus.platform.postgres import LOOKUPS_BY_KEY
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import Expiry
from abacus.pricing.store.cards import CardStore
from abacus.process import look_for_garbage_seldom
from abacus.programs.opening.balance_import import Import, Tally
from abacus.programs.opening.decide.line import Fault, Known
from abacus.programs.opening.files import Lines, opened
from abacus.programs.opening.stage import Stage

app = CommandGroup(help="Import opening balances from another system.", no_args_is_help=True)

_SHOWN: Final = 20  # faults, on the terminal and in the document


@app.command("accounts")
async def accounts(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A .csv or .parquet file of opening balances.")],
    source: Annotated[str, typer.Option(help="The system they come from, say oldsystem. It is part of each key.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check everything, write nothing.")] = False,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Import the good lines of a file with bad ones.")
    ] = False,
    faults: Annotated[Path | None, typer.Option("--errors", metavar="FILE.csv", help="Write every bad line.")] = None,
) -> Answer:
    """Open accounts with the balances that members had in another system.

    All lines are checked first; a file with a bad one imports nothing. Done again, it changes nothing. Exit 1 when
    there are bad lines.
    """
    settings()
    look_for_garbage_seldom()
    if re.fullmatch(NAME_PATTERN, source) is None:
        raise Refused(f"--source: {source!r} is not a name: letters, digits, '.', '_' and '-', 64 at most")
    with _telling(faults) as told, opened(file) as lines:
        async with actor() as at:
            if not dry_run:
                await at.begins(Deed.IMPORT, f"import:{source}", file=file.name)
        async with _importing(at.clock, Origin(source, at.actor.source), told) as (job, known):
            tally, written = await _through(job, lines, known, dry_run=dry_run, skip_bad=skip_bad)
    document = _document(file, source, tally, told, dry_run=dry_run, written=written)
    bad = (Aside(str(fault), "red") for fault in told.first)
    sentence = _sentence(tally, told, dry_run=dry_run, written=written)
    return Answer(document, *bad, sentence, exit_code=EXIT_FAILED if tally.bad else 0)


class _Told:
    """Takes the faults: the first ones are told, the file gets all."""

    def __init__(self, rows: CsvWriter | None) -> None:
        self.first: list[Fault] = []
        self.more = 0
        self._rows = rows

    def __call__(self, fault: Fault) -> None:
        if self._rows is not None:
            self._rows.row(fault)
        if len(self.first) == _SHOWN:
            self.more += 1
            return
        self.first.append(fault)


@contextmanager
def _telling(path: Path | None) -> Iterator[_Told]:
    if path is None:
        yield _Told(None)
        return
    with csv_file(path, Fault._fields, "--errors") as rows:
        yield _Told(rows)


@asynccontextmanager
async def _importing(clock: Clock, origin: Origin, told: _Told) -> AsyncIterator[tuple[Import, Known]]:
    async with pool() as asking, pool(session=LOOKUPS_BY_KEY) as posting, asking.acquire() as staging:
        cards = await CardStore(asking).all()
        yield Import(posting, Stage(staging, origin), clock, origin, told), _known(CardBook(cards), clock)


def _known(book: CardBook, clock: Clock) -> Known:
    newest = {country: book.versions(country)[-1].card for country in book.countries()}
    programs = {version.card.program for scope in book.scopes() for version in book.versions(scope)}
    today = {country: clock.now().astimezone(card.zone).date() for country, card in newest.items()}
    by_lots = {country for country in newest if _lapses_by_lots(book, country, clock.now())}
    return Known(frozenset(programs), today, frozenset(by_lots))


def _lapses_by_lots(book: CardBook, country: str, now: datetime) -> bool:
    try:
        return book.in_force(country, now).card.expiry is Expiry.LIFETIME
    except SetAside:  # its first card is still to come
        return False


async def _through(job: Import, lines: Lines, known: Known, *, dry_run: bool, skip_bad: bool) -> tuple[Tally, bool]:
    """Import the lines; return the result, and whether anything was posted."""
    with percents() as progress:
        reading = progress.add_task("reading", total=lines.total)
        await job.stage(lines, known, lambda _: progress.update(reading, completed=lines.done))
        checking = progress.add_task("checking", total=job.staged)
        tally = await job.check(lambda count: progress.advance(checking, count))
        if dry_run or (tally.bad and not skip_bad):
            return tally, False
        posting = progress.add_task("posting", total=job.staged)
        return await job.post(lambda count: progress.advance(posting, count)), True


def _sentence(tally: Tally, told: _Told, *, dry_run: bool, written: bool) -> str:
    done = "imported" if written else "would be imported" if dry_run else "not imported"
    bad = f", {tally.bad:,} bad" if tally.bad else ""
    more = f" ({counted(told.more, 'fault')} more than shown)" if told.more else ""
    nothing = "; nothing is imported from a file with bad lines, unless with --skip-bad"
    why = nothing if tally.bad and not written and not dry_run else ""
    return (
        f"{counted(tally.lines, 'line')}: {tally.new:,} {done} with {counted(tally.points, 'point')},"
        f" {tally.already:,} already there{bad}{more}{why}"
    )


def _document(file: Path, source: str, tally: Tally, told: _Told, *, dry_run: bool, written: bool) -> dict[str, Any]:
    return {
        "file": str(file),
        "source": source,
        "dry_run": dry_run,
        "imported": written,
        "lines": tally.lines,
        "new": tally.new,
        "points": tally.points,
        "already": tally.already,
        "bad": tally.bad,
        "faults": [fault._asdict() for fault in told.first],
        "more_faults": told.more,
    }
