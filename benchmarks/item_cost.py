"""The processor time of a single award over HTTP, of an award in a batch, and of a transaction from the stream: from
the request or message to the published event, all processes and Postgres together.

Rates follow what else the machine does; the processor time of an item much less so. Several revisions take turns, each
a house of its own.
"""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from itertools import count, islice
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.api import BATCH, BATCH_CALLERS, CALLERS, batch_requests, grant_requests, load_all
from benchmarks.cpu_cost import Run
from benchmarks.house import House, house
from benchmarks.load import Bodies, Pace, send
from benchmarks.report import Figure, rate
from benchmarks.revision import THIS, Tree

TURNS: Final = 9  # of each house in a round, after one that does not count; short ones, which the machine treats alike
SHORT_TURNS: Final = 2
MEMBERS: Final = 10_000

ALL: Final = "processor time of all three, their geometric mean"
MOST_MORE: Final = 1.05


class Driver:
    """Sends a house what it is to work on, each item once."""

    def __init__(self, running: House) -> None:
        self._house = running
        self._port = running.settings.api_port
        self._single = grant_requests(running.key)
        self._batched = batch_requests(running.key)
        self._marks = map(str, count())

    async def single(self, number: int) -> None:
        await load_all(self._port, islice(self._single, number), CALLERS)

    async def batched(self, number: int) -> None:
        await load_all(self._port, islice(self._batched, number // BATCH), BATCH_CALLERS)

    async def streamed(self, number: int) -> None:
        bodies = Bodies(next(self._marks), MEMBERS, at=None, hot=False, poison=0.0)
        settings = self._house.settings
        await send(settings, settings.transactions_topic, bodies, Pace(None, None, number), asyncio.Event())

    async def turn(self, item: "Item") -> Run:
        """Send a turn's number of it, and wait until all of them are published."""
        before, cpu, began = await self._house.published(), self._house.cpu(), time.monotonic()
        await item.send(self, item.number)
        await self._house.has_published(before + item.number)
        seconds, cpu_now = time.monotonic() - began, self._house.cpu()
        return Run(item.number, seconds, {name: cpu_now[name] - cpu[name] for name in cpu})


class Item(NamedTuple):
    """What is counted: its name, how it is sent, how many a turn, and their unit."""

    name: str
    send: Callable[[Driver, int], Awaitable[None]]
    number: int
    unit: str


ITEMS: Final = (
    Item("processor time of a single award", Driver.single, 400, "awards"),
    Item(f"processor time of an award in a batch of {BATCH}", Driver.batched, 2_000, "awards"),
    Item("processor time of a transaction from the stream", Driver.streamed, 2_000, "transactions"),
)
# How many times the processor time of an older revision is wanted at most.
WANTED: Final[Mapping[str, float]] = dict.fromkeys((*(item.name for item in ITEMS), ALL), MOST_MORE)


async def measure(directory: Path, *, short: bool = False) -> list[Figure]:
    """One round of this revision alone."""
    (figures,) = await measure_round(directory, [THIS], short=short)
    return figures


async def measure_round(directory: Path, trees: Sequence[Tree], *, short: bool = False) -> list[list[Figure]]:
    """The figures of each revision, in turns: every other turn begins with the last of them."""
    async with AsyncExitStack() as stack:
        drivers = [
            Driver(await stack.enter_async_context(house(tree, directory / str(number))))
            for number, tree in enumerate(trees)
        ]
        runs: list[dict[Item, list[Run]]] = [{item: [] for item in ITEMS} for _ in drivers]
        for turn in range(1 + (SHORT_TURNS if short else TURNS)):
            order = list(zip(drivers, runs, strict=True))
            for item in ITEMS:
                for driver, its_runs in reversed(order) if turn % 2 else order:
                    its_runs[item].append(await driver.turn(item))
    return [list(_figures({item: each[1:] for item, each in its_runs.items()})) for its_runs in runs]


def _figures(runs: Mapping[Item, Sequence[Run]]) -> Iterator[Figure]:
    costs: list[float] = []
    for item, turns in runs.items():
        costs.append(_undisturbed(run.cpu_us for run in turns))
        yield Figure(item.name, f"{costs[-1]:.1f} µs")
        for name in turns[0].cpu:
            yield Figure(f"… {name}", f"{_undisturbed(run.us_of(name) for run in turns):.1f} µs")
        yield Figure("… rate", rate(statistics.median(run.per_s for run in turns), item.unit))
    yield Figure(ALL, f"{statistics.geometric_mean(costs):.1f} µs")


def _undisturbed(costs: Iterable[float]) -> float:
    """The first quartile: neighbours on the machine make an item dearer, never cheaper."""
    return statistics.quantiles(costs, n=4, method="inclusive")[0]
