"""Campaigns beside the pipeline on the real services: rides offered at a rate are decided, and their points posted."""

import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from benchmarks import load, rides_load
from benchmarks.cpu_cost import Run
from benchmarks.deciding import Deciding, deciding
from benchmarks.memory import most_mib
from benchmarks.offers_in_force import put_in_force, rides_source
from benchmarks.report import Figure, rate
from benchmarks.ride_offers import EVERY, POINTS, SEGMENTS, earning
from benchmarks.scaling import cores
from benchmarks.services import real_services, rooms
from benchmarks.throughput import Waited
from benchmarks.workbench import Workbench, workbench
from workers import PIPELINE

CAMPAIGNER: Final = "campaigner"
RIDES_PER_S: Final = 4_000
TRANSACTIONS_PER_S: Final = 2_000
KEPT_UP: Final = 0.98
MOST_BEHIND_S: Final = 2.0
MOST_MIB: Final = 400
WANTED_P99_S: Final = 2.0
WARM_UP_S: Final = 30.0
SHORTER: Final = 3  # the stretch at half the rates takes a third of the time

_WAITED: Final = """
select percentile_disc(array[0.5, 0.99]) within group (order by extract(epoch from posted_at - occurred_at)::float8)
from transfer where occurred_at > $1 and key like 'campaign:%'
"""
_POSTED: Final = """
select count(*) from transfer where posted_at >= $1 and posted_at < $2 and key not like 'campaign:%'
"""
_COUNTS: Final = """
select count(*) filter (where key like 'campaign:%') as earned,
    coalesce(sum(points) filter (where key like 'campaign:%'), 0)::bigint as points,
    count(*) filter (where key not like 'campaign:%') as transactions,
    (select count(*) from claim) as claims,
    (select count(*) from campaign_claim) as claimed,
    (select coalesce(sum(events), 0)::bigint from campaign_sum) as decided,
    (select count(*) from quarantine) as quarantined
from transfer
"""


class Stretch(NamedTuple):
    """What came of rides and transactions that were offered for a while."""

    run: Run
    since: datetime
    decided_per_s: float
    posted_per_s: float
    behind_s: float
    rides: int
    transactions: int


class Seen(NamedTuple):
    """What was seen of both stretches: how long the second one's points took, and the memory of the campaigner; how
    many rides earn points, and whether those and nothing else are in the ledger.
    """

    waited: Waited
    memory_mib: int
    expected: int
    complete: bool


async def measure(accounts: int, seconds: float, campaigns: int) -> list[Figure]:
    async with AsyncExitStack() as stack:
        services = await stack.enter_async_context(real_services())
        settings = await stack.enter_async_context(rooms(services, accounts))
        await stack.enter_async_context(rides_source(settings, accounts))
        await put_in_force(settings, campaigns)
        bench = await stack.enter_async_context(workbench(settings))
        rides = await stack.enter_async_context(deciding(settings, bench.pool))
        offered = _Offered(bench, rides, campaigns, accounts)
        async with bench.workers({**dict.fromkeys(PIPELINE, 1), CAMPAIGNER: 1}):
            full = await offered.stretch("full", 1.0, seconds)
            half = await offered.stretch("half", 0.5, seconds / SHORTER)
            memory = most_mib(bench.processes(CAMPAIGNER)[0])
        waited = Waited(*await bench.pool.fetchval(_WAITED, half.since, timeout=600))
        counts = await bench.pool.fetchrow(_COUNTS, timeout=600)
    return _figures(campaigns, accounts, full, Seen(waited, memory, *_complete(counts, (full, half))))


class _Offered:
    """Rides and transactions, offered at once."""

    def __init__(self, bench: Workbench, rides: Deciding, campaigns: int, accounts: int) -> None:
        self._bench = bench
        self._rides = rides
        self._campaigns = campaigns
        self._accounts = accounts

    async def stretch(self, mark: str, share: float, seconds: float) -> Stretch:
        """Offers a share of the rates for so many seconds, after a warm-up."""
        bench, rides = self._bench, self._rides
        transactions = load.arguments(mark, self._accounts, rate=share * TRANSACTIONS_PER_S)
        given = rides_load.arguments(mark, self._campaigns, self._accounts, rate=share * RIDES_PER_S)
        async with (
            bench.load(transactions) as sending,
            bench.sending(given, name=rides_load.NAME, module=rides_load.MODULE) as riding,
        ):
            await bench.measured(min(WARM_UP_S, seconds))
            since, decided = datetime.now(UTC), await rides.decided()
            (run,) = await bench.measured(seconds)
            until, decided, behind = datetime.now(UTC), await rides.decided() - decided, await rides.under_way()
        await rides.settled()
        await bench.settled()
        lasted = (until - since).total_seconds()
        posted = await bench.pool.fetchval(_POSTED, since, until, timeout=600)
        per_s = decided / lasted
        print(f"  decided {per_s:,.0f}/s, {behind:,} under way", file=sys.stderr, flush=True)
        return Stretch(
            *(run, since, per_s, posted / lasted, behind / (share * RIDES_PER_S)),
            *(riding.result(), sending.result()),
        )


def _complete(counts: Any, stretches: Sequence[Stretch]) -> tuple[int, bool]:
    """How many rides earned points, and whether those and all transactions were posted once, and nothing else."""
    expected = sum(earning(each.rides) for each in stretches)
    transactions = sum(each.transactions for each in stretches)
    print(f"  expected {expected:,} and {transactions:,}, {dict(counts)}", file=sys.stderr)
    return expected, bool(
        counts["earned"] == counts["claimed"] == counts["decided"] == expected
        and counts["points"] == expected * POINTS
        and counts["transactions"] == transactions
        and counts["claims"] == expected + transactions
        and not counts["quarantined"]
    )


def _figures(campaigns: int, accounts: int, full: Stretch, seen: Seen) -> list[Figure]:
    kept_up = full.decided_per_s >= KEPT_UP * RIDES_PER_S and full.behind_s <= MOST_BEHIND_S
    return [
        Figure(
            f"rides decided for {campaigns:,} campaigns, offered at {RIDES_PER_S:,}/s for {full.run.seconds:.0f} s,"
            f" one in {EVERY} earns points",
            rate(full.decided_per_s, "rides"),
            f"{full.behind_s:.1f} s of rides under way at the end",
            f"{RIDES_PER_S:,}/s, < {MOST_BEHIND_S:.0f} s behind",
            kept_up,
        ),
        Figure(
            f"… transactions posted beside, offered at {TRANSACTIONS_PER_S:,}/s",
            rate(full.posted_per_s, "transactions"),
            f"cores in use: {cores(full.run)}",
            f"{TRANSACTIONS_PER_S:,}/s",
            full.posted_per_s >= KEPT_UP * TRANSACTIONS_PER_S,
        ),
        Figure(
            "… each ride that earns points posted once, and each transaction",
            f"{seen.expected:,} awards",
            "",
            "all",
            seen.complete,
            anywhere=True,
        ),
        Figure(
            f"… memory of the campaigner, peak, with {SEGMENTS} segments of {accounts // 10:,} members",
            f"{seen.memory_mib} MiB",
            f"{seen.memory_mib / MOST_MIB:.2f} of the limit",
            f"< {MOST_MIB} MiB",
            seen.memory_mib < MOST_MIB,
        ),
        Figure(
            f"ride produced to its points posted, median and p99, at {RIDES_PER_S // 2:,} rides/s beside"
            f" {TRANSACTIONS_PER_S // 2:,} transactions/s",
            str(seen.waited),
            "0.50 of the rates",
            f"p99 < {WANTED_P99_S:.0f} s",
            seen.waited.p99 < WANTED_P99_S,
        ),
    ]
