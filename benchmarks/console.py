"""How fast the pages of the console answer, on a ledger with accounts and transfers, and what the first visit loads."""

import re
import statistics
import sys
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Final, NamedTuple

import httpx
import psutil

from abacus.cli.people.console import links_for
from abacus.console.app import SERVED
from abacus.core.clock import SystemClock
from abacus.core.errors import Reason
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.migrations import migrate
from abacus.platform.postgres import open_pool
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.quarantine.types import Item, Stage
from abacus.platform.settings import Settings
from benchmarks.api import free_port, is_up
from benchmarks.pipeline import worker
from benchmarks.report import Figure
from benchmarks.verify import TRANSFERS, fill, member

ROUNDS: Final = 40
SET_ASIDE: Final = 10_000
FEW: Final = 10_000  # accounts, about those of the demo
MOST_S: Final = 0.4
MOST_WITH_FEW_S: Final = 0.15
MOST_FIRST_BYTES: Final = 100 * 1024
MOST_MEMORY: Final = 200 << 20
# Ten countries whose points come within six bounds of time.
_PULSE: Final = """
insert into points_pulse
select $1, since, 'C' || country, within_s, 100, 1000
from generate_series(date_trunc('hour', now()) - $2::text::interval, now(), $3::text::interval) as since,
    generate_series(0, 9) as country, unnest(array[0.1, 0.2, 0.3, 0.5, 1, 10]) as within_s
"""
_HIDDEN: Final = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')
_LOADED: Final = re.compile(r'(?:href|src)="(/static/[^"]+)"')


class Answered(NamedTuple):
    """The times of each page, the bytes of the first visit, and the memory of the process."""

    seconds: dict[str, list[float]]
    first_bytes: int
    memory: int

    @property
    def slowest(self) -> tuple[str, float]:
        """The page whose 95th percentile is the greatest."""
        return max(((path, _p95(times)) for path, times in self.seconds.items()), key=lambda each: each[1])


async def measure(directory: Path, accounts: int) -> list[Figure]:
    """With few accounts, and with so many."""
    few = await _answered(directory / "few", min(FEW, accounts))
    many = await _answered(directory / "many", accounts)
    return [
        _figure(few, min(FEW, accounts), MOST_WITH_FEW_S, None),
        _figure(many, accounts, MOST_S, few),
        Figure(
            "the first visit of a browser, over the wire",
            f"{many.first_bytes / 1024:.0f} KiB",
            f"{many.first_bytes / MOST_FIRST_BYTES:.2f} of the limit",
            f"<= {MOST_FIRST_BYTES // 1024} KiB",
            many.first_bytes <= MOST_FIRST_BYTES,
        ),
        Figure(
            f"memory of the console after {sum(map(len, many.seconds.values())):,} pages",
            f"{many.memory / (1 << 20):.0f} MiB",
            f"{many.memory / MOST_MEMORY:.2f} of the limit",
            f"< {MOST_MEMORY >> 20} MiB",
            many.memory < MOST_MEMORY,
        ),
    ]


def _figure(answered: Answered, accounts: int, most_s: float, beside: Answered | None) -> Figure:
    path, slowest = answered.slowest
    middle = statistics.median(_p95(times) for times in answered.seconds.values())
    ratio = f"{slowest / beside.slowest[1]:.1f} times that with few accounts; " if beside is not None else ""
    return Figure(
        f"{len(answered.seconds)} pages with {accounts:,} accounts and {accounts * TRANSFERS:,} transfers,"
        " 95th percentile of the slowest",
        f"{slowest * 1000:.0f} ms ({path})",
        f"{ratio}the middle one {middle * 1000:.0f} ms",
        f"<= {most_s * 1000:.0f} ms",
        slowest <= most_s,
    )


async def _answered(directory: Path, accounts: int) -> Answered:
    async with AsyncExitStack() as stack:
        embedded = await stack.enter_async_context(EmbeddedStack(directory, sqs=False, kafka=False))
        settings = Settings(database_url=embedded.database_url, console_port=free_port())
        await migrate(settings.required("database_url"))
        began = time.monotonic()
        await _fill(settings, accounts)
        print(f"  {accounts:,} accounts: filled in {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
        process = await stack.enter_async_context(worker("console", settings))
        await is_up(settings.console_port)
        links = await links_for(settings, {"admin": ["admin"]})
        client = await stack.enter_async_context(
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{settings.console_port}", timeout=60)
        )
        first_bytes = await _sign_in(client, links["admin"])
        seconds = {path: await _times(client, path) for path in _paths(accounts)}
        return Answered(seconds, first_bytes, int(psutil.Process(process.pid).memory_info().rss))


async def _fill(settings: Settings, accounts: int) -> None:
    owner = await open_pool(settings.required("database_url"), size=2, role=None)
    try:
        await fill(owner, accounts)
        store = QuarantineStore(owner, SystemClock())
        item = Item(Stage.TRANSACTION, "", Reason.UNKNOWN_TIER, "no such tier", b'{"transaction_id": "T-1"}')
        await store.add([replace(item, origin=f"kafka:t/0/{number}") for number in range(SET_ASIDE)])
        for step, back in (("minute", "6 hours"), ("quarter", "35 days")):
            await owner.execute(_PULSE, step, back, "1 minute" if step == "minute" else "15 minutes")
        await owner.execute("vacuum analyze")
    finally:
        await owner.close()


async def _sign_in(client: httpx.AsyncClient, link: str) -> int:
    """Returns the bytes of the first page with all that it loads, as a browser asks for them."""
    page = await client.get(link)
    form = {name: unescape(value) for name, value in _HIDDEN.findall(page.text)}
    entered = await client.post("/sign-in/link", data=form)
    if entered.status_code != 303:  # noqa: PLR2004
        raise RuntimeError(f"the link does not let in: {entered.status_code}")
    home = await client.get("/", headers={"Accept": "text/html"})
    loaded = [await _bytes(client, unescape(each)) for each in dict.fromkeys(_LOADED.findall(home.text))]
    return len(home.content) + sum(loaded)


async def _bytes(client: httpx.AsyncClient, path: str) -> int:
    async with client.stream("GET", path, headers={"Accept-Encoding": "gzip"}) as answer:
        return sum([len(each) async for each in answer.aiter_raw()])


def _paths(accounts: int) -> Sequence[str]:
    """The pages that a person opens by itself, a member, a search, and a quote."""
    plain = [each.path for each in SERVED if each.method == "GET" and not each.is_file and "{" not in each.path]
    one = member(accounts // 2)
    return [
        *plain,
        "/pulse?range=week",
        f"/members/{one}",
        "/rates/SG",
        "/rates-quote?country=SG&amount=10",
        "/finance/close/2026-06",
        "/finance/reports/rollforward",
        "/quarantine?reason=unknown-tier",
    ]


async def _times(client: httpx.AsyncClient, path: str) -> list[float]:
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        answer = await client.get(path, headers={"Accept": "text/html"})
        times.append(time.perf_counter() - began)
        if answer.status_code != 200:  # noqa: PLR2004
            raise RuntimeError(f"{path}: {answer.status_code}")
    return times


def _p95(times: Sequence[float]) -> float:
    return statistics.quantiles(times, n=20, method="inclusive")[-1]
