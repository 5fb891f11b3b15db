"""`abacus campaigns backtest` over a topic of rides: how fast it decides them, and that its memory stays as it is."""

import asyncio
import json
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

from abacus.core.document_text import write_toml
from abacus.core.errors import Unavailable
from abacus.platform.settings import Settings
from benchmarks import rides_load
from benchmarks.memory import mib
from benchmarks.offers_in_force import rides_source
from benchmarks.pipeline import environment
from benchmarks.report import Figure, rate
from benchmarks.ride_offers import SOURCE, TYPE
from benchmarks.services import real_services, rooms
from benchmarks.workbench import workbench

WANTED: Final = 20_000
MOST_GROWTH: Final = 1.2
OFFERS: Final = 10_000  # whose cities the rides are in
MEMBERS: Final = 1_000_000
_WATCH_S: Final = 0.1
_DRAFT: Final[Mapping[str, Any]] = {
    "name": "third_ride",
    "country": "SG",
    "timezone": "Asia/Singapore",
    "starts_at": datetime(2026, 1, 1, tzinfo=UTC),
    "ends_at": datetime(2036, 1, 1, tzinfo=UTC),
    "on": [f"{SOURCE}/{TYPE}"],
    "steps": [{"every": 3, "do": [{"award": {"points": 100}}]}],
    "limits": {"runs": {"overall": 1_000_000, "member": 2}},
}
_CARS: Final = {"operator": "eq", "lhs": "var.vehicle", "rhs": "car"}


class Tested(NamedTuple):
    """What the command told, and its seconds and memory: when a quarter of the time was over, and at the end."""

    told: Mapping[str, Any]
    seconds: float
    quarter_mib: int
    end_mib: int

    @property
    def per_s(self) -> float:
        return float(self.told["read"]) / self.seconds

    @property
    def growth(self) -> float:
        return self.end_mib / self.quarter_mib


async def measure(directory: Path, events: int) -> list[Figure]:
    async with AsyncExitStack() as stack:
        services = await stack.enter_async_context(real_services())
        settings = await stack.enter_async_context(rooms(services, 0))
        await stack.enter_async_context(rides_source(settings, 0))
        bench = await stack.enter_async_context(workbench(settings))
        begin = datetime.now(UTC)
        given = rides_load.arguments("past", OFFERS, MEMBERS, most=events)
        async with bench.sending(given, name=rides_load.NAME, module=rides_load.MODULE) as sending:
            await sending
        window = begin - timedelta(seconds=1), datetime.now(UTC)
        few = await _tested(directory, settings, {**_DRAFT, "when": _CARS}, window)
        many = await _tested(directory, settings, _DRAFT, window)
    for tested in (few, many):
        if tested.told["read"] != events or tested.told["faulty"]:
            raise Unavailable("backtest", f"it read {tested.told['read']:,} of {events:,} events")
    return [
        *_figures("backtest of a campaign over", few, events),
        *_figures("… of one to which more answer,", many, events),
    ]


def _figures(name: str, tested: Tested, events: int) -> Iterator[Figure]:
    yield Figure(
        f"{name} {events:,} events of a topic, of which {tested.told['events']:,} count",
        rate(tested.per_s, "events"),
        f"{tested.seconds:.1f} s from the command to its answer",
        f">= {WANTED:,}/s",
        tested.per_s >= WANTED,
    )
    yield Figure(
        "… its memory at the end",
        f"{tested.end_mib} MiB",
        f"{tested.growth:.2f} of that after a quarter of the time",
        f"<= {MOST_GROWTH} times",
        tested.growth <= MOST_GROWTH,
    )


async def _tested(
    directory: Path, settings: Settings, draft: Mapping[str, Any], window: tuple[datetime, datetime]
) -> Tested:
    file = directory / "draft.toml"
    await asyncio.to_thread(file.write_text, write_toml(dict(draft)), encoding="utf-8")
    begin, end = (moment.isoformat() for moment in window)
    began = time.monotonic()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "abacus", "campaigns", "backtest", str(file)),
        *("--from", begin, "--to", end, "--json"),
        env=environment(settings),
        stdout=asyncio.subprocess.PIPE,
    )
    telling = asyncio.create_task(process.communicate())
    sizes: list[int] = []
    while not telling.done():
        with suppress(OSError, KeyError):  # it has just ended
            sizes.append(mib(process.pid))
        await asyncio.wait((telling,), timeout=_WATCH_S)
    seconds = time.monotonic() - began
    if process.returncode:
        raise Unavailable("backtest", f"it ended with {process.returncode}")
    told, _ = telling.result()
    return Tested(json.loads(told), seconds, sizes[len(sizes) // 4], max(sizes[-3:]))
