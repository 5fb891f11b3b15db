"""Publishing what a ledger in slices has, by one relay process and by several, beside one ledger that is not cut."""

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from statistics import median
from typing import Final, NamedTuple

import psutil

from abacus.core.clock import SystemClock
from abacus.ledger.relay.cursor import RelayCursor
from abacus.ledger.store.post import PostgresLedger
from abacus.platform.settings import Settings
from benchmarks.posting_rounds import award, batches_of, ledger_pool
from benchmarks.ratio import ratio_of
from benchmarks.report import Figure, rate
from benchmarks.services import real_services, rooms
from benchmarks.workbench import Workbench, workbench

TRANSFERS: Final = 300_000  # a round
ROUNDS: Final = 3
SHARED_OUT_AFTER_S: Final = 15.0  # the slices, among the processes
HANDS: Final = 4
BATCH: Final = 1000
WANTED: Final = 3.0
FROM, TO = 0.95, 0.15  # of what waits: slices end at different moments
_LOOK_EVERY_S: Final = 0.2


class Way(NamedTuple):
    """So many slices, published by so many processes."""

    slices: int
    relays: int

    def __str__(self) -> str:
        of = "one ledger" if self.slices == 1 else f"{self.slices} slices"
        return f"{of} published by {self.relays} relay process{'es' * (self.relays > 1)}"


WHOLE: Final = Way(1, 1)
WAYS: Final = (WHOLE, Way(8, 1), Way(8, 2))


async def measure(accounts: int) -> list[Figure]:
    """The ways take turns, so that the machine's load affects each alike."""
    rates: dict[Way, list[float]] = {way: [] for way in WAYS}
    async with real_services() as services:
        for slices in sorted({way.slices for way in WAYS}):
            async with rooms(services, accounts, slices) as settings, workbench(settings) as bench:
                for number in range(ROUNDS):
                    for way in WAYS:
                        if way.slices == slices:
                            async with bench.workers({"relay": way.relays}):
                                await asyncio.sleep(SHARED_OUT_AFTER_S)
                                with _held_up(bench.processes("relay")):
                                    await _post(settings, accounts, number * len(WAYS) + way.relays)
                                rates[way].append(await _published(bench))
    return _figures(rates)


@contextmanager
def _held_up(pids: Sequence[int]) -> Iterator[None]:
    """While the block lasts these processes do nothing, and keep what they lead."""
    for pid in pids:
        psutil.Process(pid).suspend()
    try:
        yield
    finally:
        for pid in pids:
            psutil.Process(pid).resume()


async def _post(settings: Settings, accounts: int, number: int) -> None:
    first = number * TRANSFERS
    batches = iter(batches_of([award(each, each * 7919 % accounts) for each in range(first, first + TRANSFERS)], BATCH))
    async with ledger_pool(settings.required("database_url"), HANDS) as pool:
        ledger = PostgresLedger(pool, SystemClock())

        async def hand() -> None:
            for batch in batches:
                await ledger.post(batch)

        await asyncio.gather(*(hand() for _ in range(HANDS)))


async def _published(bench: Workbench) -> float:
    """Transfers a second, while all are at work."""
    cursor = RelayCursor(bench.pool, bench.settings.points_topic, SystemClock())
    began, there = await _at_most(cursor, TRANSFERS * FROM)
    ended, left = await _at_most(cursor, TRANSFERS * TO)
    await _at_most(cursor, 0)
    return (there - left) / (ended - began)


async def _at_most(cursor: RelayCursor, count: float) -> tuple[float, int]:
    """When no more than so many wait, and how many that were."""
    while (waiting := await cursor.waiting()) > count:  # noqa: ASYNC110  # other processes
        await asyncio.sleep(_LOOK_EVERY_S)
    return time.monotonic(), waiting


def _figures(rates: Mapping[Way, Sequence[float]]) -> list[Figure]:
    figures: list[Figure] = []
    for way, measured in rates.items():
        ratio = ratio_of(rates[WHOLE], measured)
        judged = way == WAYS[-1]
        figures.append(
            Figure(
                str(way),
                rate(median(measured), "transfers"),
                "" if way == WHOLE else f"{ratio} of one relay",
                f">= {WANTED}, where cores allow" if judged else "",
                ratio is not None and ratio.median >= WANTED if judged else None,
            )
        )
    return figures
