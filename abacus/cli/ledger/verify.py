"""`abacus ledger verify`: the ledger proven from its rows."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.progress import BarColumn, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
from rich.text import Text

from abacus.cli.terminal.answer import EXIT_FAILED, Answer, Line, Shown, counted
from abacus.cli.terminal.progress import shown_progress
from abacus.cli.terminal.shell import pool, settings
from abacus.core.errors import Refused
from abacus.platform.postgres import Pool
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore
from abacus.programs.tiers.tier_proof import Tiers
from abacus.proof.decide.recheck import Recheck
from abacus.proof.decide.report import Report
from abacus.proof.parts import EVERYBODY, Span
from abacus.proof.processes import Helpers
from abacus.proof.verify import TransfersChecked, is_worth_helping
from abacus.proof.verify import verify as verify_ledger


async def verify(
    member: Annotated[str | None, typer.Option(help="Only this member.")] = None,
    first: Annotated[str | None, typer.Option("--from", metavar="MEMBER", help="Members from this id on.")] = None,
    last: Annotated[str | None, typer.Option("--to", metavar="MEMBER", help="Members up to this id.")] = None,
    seals: Annotated[
        str | None, typer.Option(metavar="N|all", help="How many of the last seals to compute again; else one.")
    ] = None,
    processes: Annotated[
        int | None, typer.Option(min=1, max=256, help="How many; else one for each core, or one for a small ledger.")
    ] = None,
) -> Answer:
    """Recompute every balance, sequence, hash chain, explanation and seal from the rows. Exit 1 when a row is wrong."""
    span = _span(member, first, last)
    if seals is not None and span != EVERYBODY:
        raise Refused("--seals: a seal is over all members; leave out --member, --from and --to")
    many = _how_many(seals)
    async with pool() as opened:
        report = await verified(opened, span=span, seals=many, processes=processes)
    return Answer(_document(report), *_shown(report), exit_code=0 if report.clean else EXIT_FAILED)


async def verified(
    opened: Pool, *, span: Span = EVERYBODY, seals: int | None = 1, processes: int | None = None
) -> Report:
    """The ledger, verified with its progress shown: by that many processes, else by one for each core, or by this one
    alone when the ledger is small.
    """
    helping = processes or ((os.cpu_count() or 1) if await is_worth_helping(opened) else 1)
    book = CardBook(await CardStore(opened).all())
    recheck, beside = Recheck(book), [Tiers(book)]
    with _progress() as told:
        if helping == 1 or span.first == span.last:
            return await verify_ledger(opened, recheck, span=span, seals=seals, beside=beside, progress=told)
        with Helpers(settings().required("database_url"), helping) as helpers:
            return await verify_ledger(
                opened, recheck, span=span, seals=seals, helpers=helpers, beside=beside, progress=told
            )


def _span(member: str | None, first: str | None, last: str | None) -> Span:
    if member is not None and (first is not None or last is not None):
        raise Refused("--member is one; leave out --from and --to")
    if first is not None and last is not None and last < first:
        raise Refused(f"--to: {last!r} comes before {first!r}, so nobody is meant")
    return Span(member, member) if member is not None else Span(first or "", last)


def _how_many(seals: str | None) -> int | None:
    if seals is None:
        return 1
    if seals != "all" and not (seals.isascii() and seals.isdecimal()):
        raise Refused(f"--seals: {seals!r} is neither a number nor `all`")
    return None if seals == "all" else int(seals)


@contextmanager
def _progress() -> Iterator[TransfersChecked]:
    columns = (
        SpinnerColumn(),
        BarColumn(),
        TextColumn("{task.description}"),
        _Rate(),
        TimeElapsedColumn(),
    )
    with shown_progress(*columns) as progress:
        bar = progress.add_task("", total=0)

        def tell(done: int, expected: int) -> None:
            about = f" of about {expected:,}" if expected else ""
            progress.update(bar, completed=done, total=max(done, expected), description=f"{done:,} transfers{about}")

        yield tell


class _Rate(ProgressColumn):
    """Transfers a second since the start."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.completed / task.elapsed:,.0f}/s" if task.elapsed else "")


def _document(report: Report) -> dict[str, object]:
    return {
        "clean": report.clean,
        "accounts": report.accounts,
        "transfers": report.transfers,
        "seals": report.seals,
        "faults": [fault.facts for fault in report.faults],
        "more_faults": report.more_faults,
    }


def _shown(report: Report) -> Iterator[str | Shown]:
    for fault in report.faults:
        yield Line(str(fault), "red")
    verdict = "clean" if report.clean else counted(len(report.faults) + report.more_faults, "fault")
    checked = [counted(report.accounts, "account"), counted(report.transfers, "transfer")]
    if report.seals:
        checked.append(counted(len(report.seals), "seal"))
    yield f"{', '.join(checked)}: {verdict}"
