"""Events counted, and the counts of their keys read: in one ledger and in one that is cut into slices, in turns of one
run. The time of what is handed over is left out.

Where `ABACUS_BENCH_CITUS_URL` names a database with Citus, slices on its servers are measured as well.
"""

import os
import time
from collections import defaultdict
from collections.abc import Awaitable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from abacus.core.clock import SystemClock
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.postgres import LOOKUPS_BY_KEY, Pool, open_pool
from abacus.process import look_for_garbage_seldom
from abacus.signals.counters.open_rows import OpenRows
from abacus.signals.counters.store.postgres import PostgresCounterStore
from abacus.signals.counters.types import SlotRange
from abacus.signals.counters.writer import CounterWriter
from benchmarks.counters_writer import BATCH, FEW, MEMBERS, OPEN_ROWS, Rides, documents, writer_of
from benchmarks.ratio import ratio_of
from benchmarks.report import Figure, rate
from benchmarks.sliced_database import sliced_database
from tests.support.cluster import Servers

SLICES: Final = 8
CONNECTIONS: Final = 4  # as a counter has
ASKED: Final = 256  # ranges of a question, as a round of lookups has them
QUESTIONS: Final = 40  # a round
WARM_UP: Final = 3
ROUNDS: Final = 12
_EVERYTHING: Final = (0, 1 << 28)  # all quarters


@dataclass(slots=True)
class Ledger:
    """A ledger, what counts in it, and the seconds that each kind of work took."""

    name: str
    pool: Pool
    store: PostgresCounterStore
    writer: CounterWriter
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    async def took(self, what: str, doing: Awaitable[None]) -> None:
        began = time.perf_counter()
        await doing
        self.seconds[what].append(time.perf_counter() - began)

    async def read(self, questions: Sequence[Sequence[SlotRange]]) -> None:
        for ranges in questions:
            await self.store.sums(ranges)

    async def counted(self) -> int:
        return int(await self.pool.fetchval("select sum(counted)::bigint from counter_tally"))


async def measure(directory: Path) -> list[Figure]:
    citus = os.environ.get("ABACUS_BENCH_CITUS_URL")
    async with AsyncExitStack() as stack:
        embedded = await stack.enter_async_context(EmbeddedStack(directory, sqs=False, kafka=False))
        alone = await Servers.of(embedded.database_url or "")
        ledgers = [await _ledger(stack, alone, "one ledger", 1)]
        ledgers.append(await _ledger(stack, alone, f"{SLICES} slices", SLICES))
        if citus:
            ledgers.append(await _ledger(stack, await Servers.of(citus), f"{SLICES} slices on Citus", SLICES))
        rides = Rides()
        look_for_garbage_seldom()
        for number in range(WARM_UP + ROUNDS):
            batch, questions = rides.batch(), _questions(number)
            for ledger in ledgers if number % 2 else reversed(ledgers):
                await ledger.took("counted", ledger.writer.handle(batch))
                await ledger.took("read", ledger.read(questions))
        counted = [await ledger.counted() for ledger in ledgers]
        if set(counted) != {(WARM_UP + ROUNDS) * BATCH}:
            raise RuntimeError(f"counted {counted}")
    return [
        *_figures(ledgers, "counted", BATCH, "events", f"events counted by three counters, batches of {BATCH:,}"),
        *_figures(ledgers, "read", QUESTIONS * ASKED, "ranges", f"sums of their keys, {ASKED} ranges to a question"),
    ]


def _figures(ledgers: Sequence[Ledger], what: str, each: int, of: str, title: str) -> list[Figure]:
    whole = ledgers[0].seconds[what][WARM_UP:]
    figures = [Figure(title, rate(each * len(whole) / sum(whole), of), anywhere=True)]
    for ledger in ledgers[1:]:
        seconds = ledger.seconds[what][WARM_UP:]
        ratio = f"{ratio_of(whole, seconds)} times the time of one ledger"
        figures.append(Figure(f"… {ledger.name}", rate(each * len(seconds) / sum(seconds), of), ratio, anywhere=True))
    return figures


async def _ledger(stack: AsyncExitStack, servers: Servers, name: str, slices: int) -> Ledger:
    url = await sliced_database(stack, servers, f"abacus_counters_{slices}", slices)
    pool = await open_pool(url, size=CONNECTIONS, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
    stack.push_async_callback(pool.close)
    store = PostgresCounterStore(pool, SystemClock())
    await store.tend_once()
    return Ledger(name, pool, store, writer_of(pool, store, "rides", documents(FEW), OpenRows(OPEN_ROWS)))


def _questions(number: int) -> list[list[SlotRange]]:
    """Other members in each round."""
    asked = QUESTIONS * ASKED
    keys = [f"1.1:rides:member:m{(number * asked + place) % MEMBERS:08}" for place in range(asked)]
    return [[SlotRange(key, *_EVERYTHING) for key in keys[first : first + ASKED]] for first in range(0, asked, ASKED)]
