"""Produced, posted and published on the real services: how much is sustained, how long it takes, where the CPU goes.

Everything shares the machine: Kafka, ElasticMQ, Postgres, each worker in a process of its own, and the load.
"""

import statistics
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

import orjson

from abacus.platform.kafka.window import TopicWindow
from benchmarks import load
from benchmarks.cpu_cost import Run, cpu_figures, together
from benchmarks.report import Figure, rate
from benchmarks.services import real_services, rooms
from benchmarks.workbench import Workbench, workbench
from workers import PIPELINE

WANTED: Final = 6_000
WANTED_P99_S: Final = 2.0
WARM_UP_S: Final = 30.0
SLICES: Final = 6
LEAD_S: Final = 3.0  # seconds of work that the load is ahead of the points
SHORTER: Final = 3  # the run at half the rate takes a third of the time

_WAITED: Final = """
select percentile_disc(array[0.5, 0.99]) within group (order by extract(epoch from posted_at - occurred_at)::float8)
from transfer where occurred_at > $1
"""
_COUNTS: Final = """
select (select count(*) from claim) as claims, (select count(*) from transfer) as transfers,
    (select sum(points) from transfer) = (select sum(balance) from account) as even,
    (select count(*) from quarantine) as quarantined
"""
_EVER: Final = datetime(2026, 1, 1, tzinfo=UTC)


class Waited(NamedTuple):
    """Seconds from a transaction's own time: the median, and the 99th percentile."""

    median: float
    p99: float

    def __str__(self) -> str:
        return f"{self.median * 1000:.0f} ms, {self.p99 * 1000:.0f} ms"


class Heard(NamedTuple):
    """The events of the points topic: whether each account has no gap, and how long the latest events waited."""

    transfers: int
    gaps: int
    waited: Waited


class Sustained(NamedTuple):
    """The counts at the full rate, in slices, and the number of transactions under way at the end."""

    slices: Sequence[Run]
    backlog: int
    sent: int

    @property
    def whole(self) -> Run:
        return together(self.slices)


class Paced(NamedTuple):
    """The counts at half the rate, and the moment from which they count."""

    run: Run
    since: datetime
    sent: int


async def measure(accounts: int, seconds: float, workers: Mapping[str, int], slices: int = 1) -> list[Figure]:
    counts = {**dict.fromkeys(PIPELINE, 1), **workers}
    warm_up_s = min(WARM_UP_S, seconds)
    async with (
        real_services() as services,
        rooms(services, accounts, slices) as settings,
        workbench(settings) as bench,
    ):
        async with bench.workers(counts):
            full = await _flat_out(bench, accounts, seconds, warm_up_s)
            half = await _paced(bench, accounts, full.whole.per_s / 2, seconds / SHORTER, warm_up_s)
        posted = Waited(*await bench.pool.fetchval(_WAITED, half.since, timeout=600))
        heard = await _heard(bench, half.since)
        complete = await _complete(bench, full.sent + half.sent, heard)
    crew = ", ".join(f"{count} {name}" for name, count in counts.items() if name in {"calculator", "awarder", "relay"})
    crew += f", {slices} slices" if slices > 1 else ""
    whole = full.whole
    return [
        Figure(
            f"produced to published on the real services, {accounts:,} accounts, {whole.seconds:.0f} s, {crew}",
            rate(whole.per_s, "transactions"),
            f"{min(run.per_s for run in full.slices) / whole.per_s:.2f} of it in the slowest sixth",
            f">= {WANTED:,}/s",
            whole.per_s >= WANTED,
        ),
        Figure(
            "… all of them posted once, and published without a gap",
            f"{heard.transfers:,} transfers",
            f"{full.backlog / whole.per_s:.1f} s of work under way at the end",
            "all",
            complete,
            anywhere=True,
        ),
        Figure(
            f"produced to posted, median and p99, at {half.run.per_s:,.0f} transactions/s",
            str(posted),
            f"{half.run.per_s / whole.per_s:.2f} of the full rate",
            f"p99 < {WANTED_P99_S:.0f} s",
            posted.p99 < WANTED_P99_S,
        ),
        Figure(
            "… produced to published",
            str(heard.waited),
            f"{heard.waited.median / float(posted.median):.1f} times as long",
            f"p99 < {WANTED_P99_S:.0f} s",
            heard.waited.p99 < WANTED_P99_S,
        ),
        *cpu_figures(whole, half.run, "at half the rate"),
    ]


async def _flat_out(bench: Workbench, accounts: int, seconds: float, warm_up_s: float) -> Sustained:
    async with bench.load(load.arguments("full", accounts, lead_s=LEAD_S)) as sending:
        await bench.measured(warm_up_s)
        slices = await bench.measured(seconds, SLICES)
        backlog = await bench.backlog()
    await bench.settled()
    return Sustained(slices, backlog, sending.result())


async def _paced(bench: Workbench, accounts: int, per_s: float, seconds: float, warm_up_s: float) -> Paced:
    async with bench.load(load.arguments("half", accounts, rate=per_s)) as sending:
        await bench.measured(warm_up_s)
        since = datetime.now(UTC)
        (run,) = await bench.measured(seconds)
    await bench.settled()
    return Paced(run, since, sending.result())


async def _heard(bench: Workbench, since: datetime) -> Heard:
    """Read the whole topic; the broker's stamp says when each event was there to be read."""
    bootstrap, topic = bench.settings.required("kafka_bootstrap"), bench.settings.points_topic
    reached: dict[tuple[str, str], int] = {}
    gaps, waited = 0, list[float]()
    async for batch in TopicWindow(bootstrap, topic, _EVER, datetime.now(UTC)).batches():
        for message in batch:
            data = orjson.loads(message.value)["data"]
            account, seq = (data["member_id"], data["program"]), data["seq"]
            before = reached.get(account, 0)
            gaps += seq > before + 1
            reached[account] = max(before, seq)
            if (occurred_at := datetime.fromisoformat(data["occurred_at"])) > since:
                waited.append((message.stamped_at - occurred_at).total_seconds())
    median, p99 = statistics.median(waited), statistics.quantiles(waited, n=100)[98]
    return Heard(sum(reached.values()), gaps, Waited(median, p99))


async def _complete(bench: Workbench, sent: int, heard: Heard) -> bool:
    """Whether each transaction was posted once and published, and nothing else was."""
    counts = await bench.pool.fetchrow(_COUNTS, timeout=600)
    print(f"  sent {sent:,}, {dict(counts)}, heard {heard.transfers:,} with {heard.gaps} gaps", file=sys.stderr)
    return bool(
        counts["claims"] == counts["transfers"] == heard.transfers == sent
        and counts["even"]
        and not counts["quarantined"]
        and not heard.gaps
    )
