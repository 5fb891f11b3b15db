"""`abacus reconcile`: the outcome of every source message of a window, and whether the sums come out."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.progress import Progress, TaskID

from abacus.cli.terminal.answer import EXIT_FAILED, Answer, Line, Shown, Table, counted
from abacus.cli.terminal.command_actor import actor
from abacus.cli.terminal.files import usable
from abacus.cli.terminal.progress import spinner
from abacus.cli.terminal.shell import moment, settings, sqs
from abacus.core.clock import SystemClock
from abacus.oversight.reconcile.decide.account import Account
from abacus.oversight.reconcile.decide.lines import Actions, SourceAccount
from abacus.oversight.reconcile.decide.report import document
from abacus.oversight.reconcile.decide.verdict import Verdict
from abacus.oversight.reconcile.window import MessagesRead, Reconciliation, Streams, count_queues
from abacus.platform.postgres import Pool
from abacus.platform.settings import Settings
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore

_AGAIN_AFTER_S: Final = 2.0
_SHOWN: Final = 50  # findings on a terminal; the document has more


async def reconcile(
    start: Annotated[str, typer.Option("--from", help="A time with an offset, say 2026-05-01T00:00:00+08:00.")],
    end: Annotated[str | None, typer.Option("--to", help="Up to, and without, this time; now if left out.")] = None,
    look_back: Annotated[
        float | None,
        typer.Option(min=0, help="Hours before the window to search for the messages of its transfers."),
    ] = None,
    wait: Annotated[float, typer.Option(min=0, help="Seconds to stay while something is on its way.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Write the JSON document to this file, to be kept.")] = None,
) -> Answer:
    """Account for every message of the transactions topic in a window: awarded once, duplicate, ignored, quarantined,
    on its way, missing or doubled; and hold the ledger against the points topic. Exit 1 when it does not come out.
    """
    config = settings()
    since, until = moment("--from", start), moment("--to", end) if end is not None else SystemClock().now()
    if out is not None:
        with usable(out, "--out"):  # before the work begins
            out.touch()
    with spinner("{task.description}: {task.completed:,}") as progress:
        async with actor() as at:
            account = await _settled(config, at.pool, since, until, look_back, wait, _bars(progress))
    filed = document(account, at.actor.source)
    if out is not None:
        out.write_text(json.dumps(filed, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    return Answer(filed, *_shown(account), exit_code=0 if account.comes_out else EXIT_FAILED)


async def account_for(
    config: Settings,
    opened: Pool,
    start: datetime,
    end: datetime,
    *,
    look_back: timedelta | None = None,
    progress: MessagesRead = lambda _, __: None,
) -> Account:
    """Account for the window once."""
    streams = Streams(
        config.required("kafka_bootstrap"),
        config.transactions_topic,
        config.points_topic,
        f"{config.queue_prefix}calculator",
    )
    retried_for = timedelta(hours=config.retry_hours)
    async with sqs(config) as client:
        return await Reconciliation(
            opened,
            streams,
            partial(count_queues, client, config.queue_prefix),
            CardBook(await CardStore(opened).all()),
            SystemClock(),
            retried_for=retried_for,
            look_back=retried_for if look_back is None else look_back,
            progress=progress,
        ).account(start, end)


async def _settled(
    config: Settings,
    opened: Pool,
    start: datetime,
    end: datetime,
    look_back_hours: float | None,
    wait_s: float,
    progress: MessagesRead,
) -> Account:
    """The account as soon as nothing is on its way any more, or else after `wait_s`."""
    deadline = time.monotonic() + wait_s
    look_back = None if look_back_hours is None else timedelta(hours=look_back_hours)
    while True:
        account = await account_for(config, opened, start, end, look_back=look_back, progress=progress)
        if not account.on_the_way or time.monotonic() + _AGAIN_AFTER_S > deadline:
            return account
        await asyncio.sleep(_AGAIN_AFTER_S)


def _bars(progress: Progress) -> MessagesRead:
    bars: dict[str, TaskID] = {}

    def told(what: str, count: int) -> None:
        if what not in bars:
            bars[what] = progress.add_task(what, total=None)
        progress.update(bars[what], advance=count)

    return told


def _shown(account: Account) -> Iterator[str | Shown]:
    window = account.window
    yield f"{window.start.isoformat()} to {window.end.isoformat()}, as of {window.as_of.isoformat()}"
    by_partition = {str(each): line for each, line in sorted(account.partitions.items())}
    yield _lines(f"Messages of {window.transactions_topic}", "partition", by_partition)
    yield _lines("By source", "source", account.sources)
    if account.partners:
        yield _lines("Asked for by partners", "partner", account.partners)
    if account.actions:
        yield _lines("Awarded by campaigns", "campaign", account.campaigns)
        yield _decided("campaign", account.actions)
    if account.journey_actions:
        yield _lines("Awarded by journeys", "journey", account.journeys)
        yield _decided("journey", account.journey_actions)
    rows = [[each.kind, each.origin, each.transfers, each.points] for each in account.posted]
    yield Table("Transfers posted in the window", ["kind", "goes back to", "transfers", "points"], rows)
    names = {"there": "published", "again": "of them again"}
    told = [[names.get(name, name.replace("_", " ")), count] for name, count in account.published._asdict().items()]
    yield Table(f"As {window.points_topic} tells them", ["transfers", "count"], told)
    for finding in account.findings[:_SHOWN]:
        yield Line(str(finding), "red")
    beyond = len(account.findings) - _SHOWN + account.more_findings
    if beyond > 0:
        yield Line(f"and {beyond:,} more", "red")
    for each in account.sums:
        sign = "=" if each.counted == each.other else "≠"
        yield f"{each.counted:,} {each.what} {sign} {each.other:,} {each.against}"
    if not account.whole:
        partitions = ", ".join(str(read.partition) for read in account.reads if read.forgotten)
        yield Line(f"the topic no longer has what came before: partitions {partitions}", "yellow")
    if account.on_the_way:
        yield f"{account.on_the_way:,} on the way; run it again later, or with --wait"
    verdict = "it comes out" if account.comes_out else "IT DOES NOT COME OUT"
    yield f"{counted(account.messages, 'message')}: {verdict}"


def _decided(by: str, actions: Sequence[Actions]) -> Table:
    names = [name for name in Actions._fields[2:] if name != "set_aside" or any(each.set_aside for each in actions)]
    rows = [[each.owner, each.kind, *(f"{getattr(each, name):,}" for name in names)] for each in actions]
    return Table(f"Decided by {by}s", [by, "kind", *(name.replace("_", " ") for name in names)], rows)


def _lines(title: str, name: str, lines: Mapping[str, SourceAccount]) -> Table:
    there = [verdict for verdict in Verdict if any(line.verdicts[verdict] for line in lines.values())]
    rows = [
        [each, line.total, *(f"{line.verdicts[verdict]:,}" for verdict in there), line.points]
        for each, line in sorted(lines.items(), key=lambda pair: (len(pair[0]) if pair[0].isdecimal() else 0, pair[0]))
    ]
    all_ = sum((line.verdicts for line in lines.values()), Counter[Verdict]())
    points = sum(line.points for line in lines.values())
    rows.append(["all", all_.total(), *(f"{all_[verdict]:,}" for verdict in there), points])
    return Table(title, [name, "total", *map(str, there), "points"], rows)
