"""`abacus demo`: a stream of transactions through the whole pipeline, and what came of it."""

import asyncio
import itertools
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from abacus.bootstrap import database
from abacus.cli.ledger import explained
from abacus.cli.shell import EXIT_FAILED, AsJson, console, errors, print_json, run, settings, table
from abacus.cli.stack import make_ready, running, services
from abacus.core.clock import SystemClock
from abacus.core.errors import Reason, Refused, Unavailable
from abacus.core.ids import transaction_key
from abacus.earning.recompute import recompute
from abacus.examples.stream import BOB, JANE, NAMED, TIERS, Sent, stream
from abacus.ledger.read import LedgerReader
from abacus.ledger.verify import verify
from abacus.metrics import AWARDS, POINTS, PUBLISHED, QUARANTINED, TRANSACTIONS, total
from abacus.postgres import Pool, passing_failures
from abacus.process import stopped_by_signals
from abacus.rates.book import CardBook
from abacus.rates.store import CardStore
from abacus.settings import Settings
from abacus.streams.publisher import Message, StreamPublisher
from abacus.tiers.store import MembershipStore
from workers import PIPELINE

_CHUNK: Final = 500
_AHEAD: Final = 4000  # messages the producer may be ahead: a burst larger than any the embedded queue keeps fast
_STALLED_S: Final = 120.0


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
    ledger_verified: bool


def demo(
    transactions: Annotated[int, typer.Option(min=1, max=10_000_000, help="How many to send.")] = 2000,
    data_dir: Annotated[
        Path | None, typer.Option(help="Keep the ledger here; else it is thrown away at the end.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Send a reproducible stream through every worker, count what became of it, and verify the ledger."""

    async def main() -> None:
        stop = asyncio.Event()
        with stopped_by_signals(stop), _kept_or_thrown_away(data_dir) as directory:
            async with services(settings(), directory) as complete:
                playing = asyncio.ensure_future(_play(complete, transactions, as_json=as_json))
                stopping = asyncio.ensure_future(stop.wait())
                await asyncio.wait((playing, stopping), return_when=asyncio.FIRST_COMPLETED)
                stopping.cancel()
                if not playing.done():
                    playing.cancel()
                    await asyncio.wait((playing,))
                    raise Refused("stopped before the end")
                playing.result()

    run(main())


@contextmanager
def _kept_or_thrown_away(data_dir: Path | None) -> Iterator[Path]:
    if data_dir is not None:
        yield data_dir
        return
    with tempfile.TemporaryDirectory(prefix="abacus-demo-") as directory:
        yield Path(directory)


async def _play(complete: Settings, transactions: int, *, as_json: bool) -> None:
    await make_ready(complete)
    async with database(complete) as pool, running(PIPELINE, complete) as workers:
        memberships = MembershipStore(pool, SystemClock())
        for member, program, tier in TIERS:
            await memberships.set((member, program), tier, reason="demo", actor="abacus demo")
        summary, reasons = await _send_and_follow(complete, pool, workers, transactions, quiet=as_json)
        explanations = await _explain(pool)
    if as_json:
        print_json(asdict(summary))
    else:
        _show(summary, reasons, explanations)
    if not summary.ledger_verified:
        raise typer.Exit(EXIT_FAILED)


class _Counts:
    """The workers' own counters, from where they stood when the demo began."""

    def __init__(self) -> None:
        self._start = self._read()

    def __getitem__(self, name: str) -> int:
        return self._read()[name] - self._start[name]

    @staticmethod
    def _read() -> dict[str, int]:
        counts = {f"award_{outcome}": total(AWARDS, outcome=outcome) for outcome in ("posted", "duplicate")}
        counts |= {str(reason): total(QUARANTINED, reason=str(reason)) for reason in Reason}
        return {
            **counts,
            "awarded": total(TRANSACTIONS, outcome="awarded"),
            "set_aside": total(TRANSACTIONS, outcome="set_aside"),
            "deferred": total(TRANSACTIONS, outcome="deferred"),
            "awards": total(AWARDS),
            "quarantined": total(QUARANTINED),
            "points": total(POINTS),
            "published": total(PUBLISHED),
        }

    @property
    def settled(self) -> int:
        """Messages whose way has ended."""
        return self["awards"] + self["set_aside"]


async def _send_and_follow(
    complete: Settings, pool: Pool, workers: "asyncio.Task[None]", transactions: int, *, quiet: bool
) -> tuple[Summary, dict[str, int]]:
    counts, produced_at = _Counts(), dict[str, datetime]()
    messages = transactions + NAMED
    started = time.perf_counter()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=errors, transient=True, disable=quiet or not errors.is_terminal) as progress:
        sending = asyncio.create_task(_send(complete, stream(transactions), counts, produced_at))
        try:
            await _follow(counts, messages, sending, workers, progress)
        finally:
            sending.cancel()
    elapsed = time.perf_counter() - started
    latencies = await _latencies_ms(pool, produced_at)
    book = CardBook(await CardStore(pool).all())
    report = await verify(pool, lambda transfer: recompute(transfer, book))
    summary = Summary(
        transactions=messages,
        awarded=counts["award_posted"],
        points=counts["points"],
        duplicates=counts["award_duplicate"],
        retried=counts["deferred"],
        quarantined=counts["quarantined"],
        elapsed_s=round(elapsed, 3),
        transactions_per_s=round(messages / elapsed, 1),
        p50_ms=_percentile(latencies, 0.50),
        p99_ms=_percentile(latencies, 0.99),
        ledger_verified=report.clean,
    )
    return summary, {str(reason): counts[str(reason)] for reason in Reason if counts[str(reason)]}


async def _send(
    complete: Settings, messages: Iterator[Sent], counts: _Counts, produced_at: dict[str, datetime]
) -> None:
    publisher, clock, sent_so_far = StreamPublisher(complete.required("kafka_bootstrap")), SystemClock(), 0
    try:
        while chunk := list(itertools.islice(messages, _CHUNK)):
            while sent_so_far - counts.settled > _AHEAD:  # noqa: ASYNC110  # counters set no event
                await asyncio.sleep(0.01)
            now = clock.now()
            for sent in chunk:
                if sent.award is not None:
                    produced_at.setdefault(sent.award, now)
            await publisher.publish(complete.transactions_topic, [Message(sent.key, sent.value) for sent in chunk])
            sent_so_far += len(chunk)
    finally:
        await publisher.close()


async def _follow(
    counts: _Counts, messages: int, sending: "asyncio.Task[None]", workers: "asyncio.Task[None]", progress: Progress
) -> None:
    """Until every message is posted, suppressed or set aside, and every posting is published."""
    bars: dict[str, TaskID] = {name: progress.add_task(name, total=messages) for name in ("settled", "published")}
    last, moved_at = -1, time.monotonic()
    while True:
        settled, published = counts.settled, counts["published"]
        progress.update(bars["settled"], completed=settled)
        progress.update(bars["published"], completed=published)
        if sending.done():
            sending.result()
            if settled >= messages and published >= counts["award_posted"]:
                return
        if workers.done():
            await workers
            raise Refused("the workers stopped before the end")
        if settled + published != last:
            last, moved_at = settled + published, time.monotonic()
        elif time.monotonic() - moved_at > _STALLED_S:
            raise Unavailable(
                "the pipeline", f"{settled} of {messages} settled and nothing moved for {_STALLED_S:.0f} s"
            )
        await asyncio.sleep(0.02)


async def _latencies_ms(pool: Pool, produced_at: dict[str, datetime]) -> list[float]:
    """From produced to posted, of what was posted in this run."""
    first = min(produced_at.values())
    async with passing_failures():
        rows = await pool.fetch("select key, posted_at from transfer where posted_at >= $1", first)
    return sorted((row[1] - produced_at[row[0]]).total_seconds() * 1000 for row in rows if row[0] in produced_at)


def _percentile(ordered: list[float], share: float) -> float:
    return round(ordered[min(len(ordered) - 1, int(len(ordered) * share))], 1) if ordered else 0.0


async def _explain(pool: Pool) -> list[str]:
    """Bob's and Jane's calculations, read back from the ledger."""
    reader, book, lines = LedgerReader(pool), CardBook(await CardStore(pool).all()), list[str]()
    for transaction in (BOB, JANE):
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
        ["ledger verified", "yes" if summary.ledger_verified else "NO"],
    ]
    table("Abacus demo", ["what", "result"], rows)
    for line in explanations:
        console.print(line, highlight=False, markup=False, soft_wrap=True)
