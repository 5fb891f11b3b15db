"""The demo's stream through the pipeline: sent, followed to the end, counted and timed."""

import asyncio
import itertools
import time
from collections.abc import Iterator
from datetime import datetime
from typing import Final, NamedTuple

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from abacus.cli.examples.stream import Sent
from abacus.cli.terminal.answer import errors
from abacus.core.clock import SystemClock
from abacus.core.errors import Reason, Refused, Unavailable
from abacus.engage.notify.metrics import NOTIFICATIONS
from abacus.intake.awarding.metrics import AWARDS, POINTS
from abacus.intake.earning.metrics import TRANSACTIONS
from abacus.ledger.metrics import PUBLISHED
from abacus.platform import slices
from abacus.platform.kafka.publisher import StreamMessage, StreamPublisher
from abacus.platform.metrics import QUARANTINED, total
from abacus.platform.postgres import Pool
from abacus.platform.quarantine.types import Stage
from abacus.platform.settings import Settings
from abacus.platform.sql import Statement
from abacus.programs.expiry.metrics import EXPIRED, EXPIRED_POINTS
from abacus.programs.tiers.metrics import TIER_CHANGES
from abacus.signals.counters.metrics import COUNTER_EVENTS

_CHUNK: Final = 500
_AHEAD: Final = 4000  # messages the producer may be ahead: a burst larger than any the embedded queue keeps fast
_STALLED_S: Final = 120.0

_POSTED: Final = Statement("select key, posted_at from transfer where posted_at >= :since")


class Counts:
    """The workers' own counters, less their values when the demo began."""

    def __init__(self, transactions_topic: str) -> None:
        self._topic = transactions_topic
        self._start = self._read()

    def __getitem__(self, name: str) -> int:
        return self._read()[name] - self._start[name]

    def _read(self) -> dict[str, int]:
        counts = {f"award_{outcome}": total(AWARDS, outcome=outcome) for outcome in ("posted", "duplicate")}
        counts |= {str(reason): _set_aside(reason=str(reason)) for reason in Reason}
        return {
            **counts,
            "awarded": total(TRANSACTIONS, outcome="awarded"),
            "set_aside": total(TRANSACTIONS, outcome="set_aside"),
            "deferred": total(TRANSACTIONS, outcome="deferred"),
            "awards": total(AWARDS),
            "quarantined": _set_aside(),
            "points": total(POINTS),
            "published": total(PUBLISHED),
            "expired_members": total(EXPIRED, outcome="expired"),
            "expired_points": total(EXPIRED_POINTS),
            "tier_changes": total(TIER_CHANGES),
            "notifications": total(NOTIFICATIONS, outcome="sent"),
            "events": total(COUNTER_EVENTS, topic=self._topic),
        }

    def now(self) -> dict[str, int]:
        """All of them, as they are at the moment."""
        return {name: count - self._start[name] for name, count in self._read().items()}

    @property
    def settled(self) -> int:
        """The number of messages whose way has ended."""
        return self["awards"] + self["set_aside"]


def _set_aside(**labels: str) -> int:
    """Without the events of the same stream that a counter sets aside: transactions to come are events to come."""
    return total(QUARANTINED, **labels) - total(QUARANTINED, stage=str(Stage.EVENT), **labels)


class Played(NamedTuple):
    """How long a stream took, and how long each of its awards."""

    seconds: float
    latencies_ms: list[float]

    def percentile_ms(self, share: float) -> float:
        ordered = self.latencies_ms
        return round(ordered[min(len(ordered) - 1, int(len(ordered) * share))], 1) if ordered else 0.0


async def play(
    complete: Settings,
    pool: Pool,
    workers: "asyncio.Task[None]",
    messages: Iterator[Sent],
    expected: int,
    counts: Counts,
    *,
    quiet: bool,
) -> Played:
    """Send the messages; return when every message has come to its end and every posting is published."""
    produced_at: dict[str, datetime] = {}
    started, before = time.perf_counter(), counts.settled
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=errors, transient=True, disable=quiet or not errors.is_terminal) as progress:
        sending = asyncio.create_task(_send(complete, messages, counts, produced_at))
        try:
            await _follow(counts, before + expected, sending, workers, progress)
        finally:
            sending.cancel()
    return Played(time.perf_counter() - started, await _latencies_ms(pool, produced_at))


async def _send(complete: Settings, messages: Iterator[Sent], counts: Counts, produced_at: dict[str, datetime]) -> None:
    publisher, clock, sent_so_far = StreamPublisher(complete.required("kafka_bootstrap")), SystemClock(), counts.settled
    try:
        while chunk := list(itertools.islice(messages, _CHUNK)):
            while sent_so_far - counts.settled > _AHEAD:  # noqa: ASYNC110  # counters set no event
                await asyncio.sleep(0.01)
            now = clock.now()
            for sent in chunk:
                if sent.award is not None:
                    produced_at.setdefault(sent.award, now)
            await publisher.publish(
                complete.transactions_topic, [StreamMessage(sent.key, sent.value) for sent in chunk]
            )
            sent_so_far += len(chunk)
    finally:
        await publisher.close()


async def _follow(
    counts: Counts, messages: int, sending: "asyncio.Task[None]", workers: "asyncio.Task[None]", progress: Progress
) -> None:
    """Wait until every message is posted, suppressed or set aside, and every posting is published."""
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
    """The time from produced to posted of each transfer that was posted in this run."""
    first = min(produced_at.values())
    rows = await slices.rows(pool, _POSTED(since=first))
    return sorted(
        (posted_at - produced_at[key]).total_seconds() * 1000 for key, posted_at in rows if key in produced_at
    )
