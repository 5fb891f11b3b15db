"""`abacus demo`: a stream of transactions through the whole pipeline, and its outcome."""

import asyncio
import logging
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Final

import typer

from abacus.cli.demo.afterwards import (
    comes_out,
    end_the_month,
    until_all_is_counted,
    until_eve_has_risen,
    until_everybody_is_told,
)
from abacus.cli.demo.campaigns import play_events, start_campaigns, until_all_is_done
from abacus.cli.demo.counters import publish_counters, shown_counts
from abacus.cli.demo.documents import export_documents
from abacus.cli.demo.stream import Counts, play
from abacus.cli.examples.stream import BOB, EVE, EVE_AGAIN, JANE, NAMED, TIERS, sent, stream
from abacus.cli.house.free_ports import on_free_ports
from abacus.cli.house.stack import make_ready, running, services
from abacus.cli.house.start_progress import StartProgress
from abacus.cli.ledger.explain import explained
from abacus.cli.people.console import links_for
from abacus.cli.terminal.answer import EXIT_FAILED, AsJson, Table, console, print_json, tell
from abacus.cli.terminal.shell import database, settings
from abacus.core.clock import SystemClock
from abacus.core.errors import Reason, Refused
from abacus.core.ids import transaction_key
from abacus.core.sources import login_source
from abacus.engage.notify.channels import log as log_channel
from abacus.ledger.store.read import LedgerReader
from abacus.people.store.audit import entry_of, with_entry
from abacus.people.types.deed import Deed
from abacus.platform.patience import unless_stopped
from abacus.platform.postgres import Pool, nothing_else
from abacus.platform.settings import Settings
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore
from abacus.process import stopped_by_signals
from abacus.programs.tiers.store import MembershipStore
from abacus.programs.tiers.tier_proof import Tiers
from abacus.proof.decide.recompute import recompute
from abacus.proof.verify import verify
from workers import FOLLOWERS, PIPELINE, WORKERS

_KEPT_WHOLE: Final = 100_000  # of a longer stream the embedded broker forgets the beginning
# Who may be whom in the console.
_PEOPLE: Final = {
    "admin": ["admin"],
    "cleo": ["country_editor", "support"],
    "dora": ["approver", "finance"],
}
_GATHER_S: Final = 1.0  # for the notices of one member: the demo does not last long


@dataclass(slots=True)
class Summary:
    """The demo's figures; the fields are the keys of `--json`."""

    transactions: int
    awarded: int
    points: int
    duplicates: int
    retried: int
    quarantined: int
    elapsed_s: float
    transactions_per_s: float
    p50_ms: float
    p99_ms: float
    expired_members: int
    expired_points: int
    tier_changes: int
    notifications: int
    counters: Mapping[str, int] | None  # by key; nothing where the stream is longer than the embedded broker keeps
    campaigns: Mapping[str, Mapping[str, int]]  # by name: all events, events at which something was done, points
    documents: Mapping[str, int]  # files of an export, and changes that applying them would make
    ledger_verified: bool
    reconciled: bool | None  # nothing where the stream is longer than the embedded broker keeps


async def demo(
    transactions: Annotated[
        int, typer.Option(min=2, max=10_000_000, help="How many to send, beside Bob's and Jane's.")
    ] = 2000,
    data_dir: Annotated[
        Path | None, typer.Option(help="Keep the ledger here; else it is thrown away at the end.")
    ] = None,
    stays: Annotated[
        bool, typer.Option("--console", help="Leave the house running, with links into its console, until Ctrl-C.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Send a reproducible stream through every worker, count the outcomes, and verify the ledger."""
    stop = asyncio.Event()
    with stopped_by_signals(stop), _kept_or_thrown_away(data_dir) as directory:
        config = settings()
        if stays:
            on_free_ports(config)
        logging.getLogger(log_channel.__name__).setLevel(logging.WARNING)  # hundreds of lines, one for each member
        starting, is_ours = StartProgress(quiet=as_json), config.database_url is None
        async with services(config, directory, starting) as complete:
            playing = asyncio.ensure_future(_play(complete, transactions, starting, as_json=as_json, is_ours=is_ours))
            stopping = asyncio.ensure_future(stop.wait())
            await asyncio.wait((playing, stopping), return_when=asyncio.FIRST_COMPLETED)
            stopping.cancel()
            if not playing.done():
                playing.cancel()
                await asyncio.wait((playing,))
                raise Refused("stopped before the end")
            playing.result()
            if stays:
                await unless_stopped(_stay(complete, starting, as_json=as_json), stop)


async def _stay(complete: Settings, starting: StartProgress, *, as_json: bool) -> None:
    """Run every worker until it is cancelled, or one fails."""
    with_ports = on_free_ports(complete)
    async with running(WORKERS, with_ports, starting, health_port=with_ports.health_port) as workers:
        links = await links_for(with_ports, _PEOPLE)
        if as_json:
            print_json({"console": links})
        else:
            console.print("The console is open. Each link lets one person in, once:")
            for person_id, link in links.items():
                console.print(f"{person_id:>8}  {link}")
            console.print("Two people, say two windows, are what an approval takes; Ctrl-C ends.")
        await asyncio.wait((workers,))


@contextmanager
def _kept_or_thrown_away(data_dir: Path | None) -> Iterator[Path]:
    if data_dir is not None:
        yield data_dir
        return
    with tempfile.TemporaryDirectory(prefix="abacus-demo-") as directory:
        yield Path(directory)


async def _play(
    complete: Settings, transactions: int, starting: StartProgress, *, as_json: bool, is_ours: bool
) -> None:
    starting.tell("preparing the schema, the queues and the rate cards")
    await make_ready(complete, is_ours=is_ours)
    clock, is_kept_whole = SystemClock(), transactions <= _KEPT_WHOLE
    async with database(complete) as pool, running(PIPELINE, complete, starting) as workers:
        began, counts = clock.now(), Counts()
        memberships = MembershipStore(pool, clock)
        for member, program, tier in TIERS:
            told = {"did": "set", "program": program, "tier": tier, "reason": "demo"}
            by, about = login_source("abacus demo"), f"member:{member}"
            entry = entry_of(by, Deed.SET_TIERS, about, clock.now(), **told)
            also = with_entry(nothing_else, entry)
            await memberships.set((member, program), tier, reason="demo", actor="abacus demo", also=also)
        await publish_counters(complete, pool)
        counted_before = await shown_counts(complete, pool)
        messages = transactions - len((EVE, EVE_AGAIN))
        starting.tell(f"sending {transactions:,} transactions through them")
        played = await play(complete, pool, workers, stream(messages), messages + NAMED, counts, quiet=as_json)
        # The stream is through before tiers move: so its points are the same each time.
        followed = complete.model_copy(update={"notify_gather_seconds": _GATHER_S})
        async with running((*FOLLOWERS, "counter"), followed, starting):
            await until_eve_has_risen(pool)
            await play(complete, pool, workers, iter([sent(EVE_AGAIN)]), 1, counts, quiet=True)
            await end_the_month(complete, pool)
            await until_everybody_is_told(pool, began)
            if is_kept_whole:
                await until_all_is_counted(counts, messages + NAMED + len((EVE_AGAIN,)))
            figures = counts.now()
            reconciled = await comes_out(complete, pool, began) if is_kept_whole else None
            starting.tell("running five campaigns over the events of an app")
            campaigns = await start_campaigns(complete, pool)
            async with running(("campaigner",), followed, starting):
                await play_events(complete)
                campaigned = await until_all_is_done(pool, campaigns)
        starting.tell("exporting every document, as files that `abacus apply` publishes elsewhere")
        documents = await export_documents(pool)
        book = CardBook(await CardStore(pool).all())
        starting.tell("verifying the ledger")
        report = await verify(pool, lambda transfer: recompute(transfer, book), beside=[Tiers(book)])
        summary = Summary(
            transactions=messages + NAMED + len((EVE_AGAIN,)),
            awarded=figures["award_posted"],
            points=figures["points"],
            duplicates=figures["award_duplicate"],
            retried=figures["deferred"],
            quarantined=figures["quarantined"],
            elapsed_s=round(played.seconds, 3),
            transactions_per_s=round((messages + NAMED) / played.seconds, 1),
            p50_ms=played.percentile_ms(0.50),
            p99_ms=played.percentile_ms(0.99),
            expired_members=figures["expired_members"],
            expired_points=figures["expired_points"],
            tier_changes=figures["tier_changes"],
            notifications=figures["notifications"],
            counters=_since(counted_before, await shown_counts(complete, pool)) if is_kept_whole else None,
            campaigns=campaigned,
            documents=documents,
            ledger_verified=report.clean,
            reconciled=reconciled,
        )
        reasons = {str(reason): figures[str(reason)] for reason in Reason if figures[str(reason)]}
        explanations = await _explain(pool, book)
    if as_json:
        print_json(asdict(summary))
    else:
        _show(summary, reasons, explanations)
    if not summary.ledger_verified or summary.reconciled is False:
        raise typer.Exit(EXIT_FAILED)


def _since(before: Mapping[str, int], now: Mapping[str, int]) -> dict[str, int]:
    return {key: count - before[key] for key, count in now.items()}


async def _explain(pool: Pool, book: CardBook) -> list[str]:
    """Explain awards of Bob and Jane, and of Eve before and after she rose, as they stand in the ledger."""
    reader, lines = LedgerReader(pool), list[str]()
    for transaction in (BOB, JANE, EVE, EVE_AGAIN):
        claim = await reader.claim(transaction_key(transaction["source"], transaction["transaction_id"]))
        transfer = await reader.transfer(claim) if claim else None
        if transfer is not None:
            lines += explained(transfer, recompute(transfer, book))
    return lines


def _show(summary: Summary, reasons: dict[str, int], explanations: list[str]) -> None:
    set_aside = ", ".join(f"{count} {reason}" for reason, count in reasons.items())
    rows = [
        ["transactions", f"{summary.transactions:,}"],
        ["awarded", f"{summary.awarded:,}"],
        ["points", f"{summary.points:,}"],
        ["duplicates suppressed", f"{summary.duplicates:,}"],
        ["retried", f"{summary.retried:,}"],
        ["quarantined", f"{summary.quarantined:,}" + (f" ({set_aside})" if set_aside else "")],
        ["seconds", f"{summary.elapsed_s:.1f}"],
        ["transactions/s", f"{summary.transactions_per_s:,.0f}"],
        ["produced to posted", f"median {summary.p50_ms:.0f} ms, p99 {summary.p99_ms:.0f} ms"],
        ["lapsed with July", f"{summary.expired_points:,} points of {summary.expired_members:,} members"],
        ["changes of tier", f"{summary.tier_changes:,}"],
        ["messages to members", f"{summary.notifications:,}"],
        *([f"counted: {key}", f"{count:,}"] for key, count in (summary.counters or {}).items()),
        *(
            [f"campaign: {name}", f"{did['points']:,} points, {did['done']:,} of {did['events']:,} events"]
            for name, did in summary.campaigns.items()
        ),
        [
            "documents exported",
            f"{summary.documents['exported']:,}; applied again, {summary.documents['changed_by_apply']:,} change",
        ],
        ["ledger verified", "yes" if summary.ledger_verified else "NO"],
        ["messages reconciled", {True: "yes", False: "NO", None: "too many to keep"}[summary.reconciled]],
    ]
    tell(Table("Abacus demo", ["what", "result"], rows), *explanations)
