"""How fast every page of the console answers, in a house with a year behind it, and what the first visit loads.

Pages are asked for in turns, after a start of Postgres and of the console, so that the first time of each is told apart
from the times after it. Other programs on the machine make times longer and never shorter: of the turns the best one is
judged. The processor time of a request says how much of a time is its own.
"""

import re
import statistics
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from html import unescape
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import httpx
import psutil

from abacus.cli.house.stack import make_ready
from abacus.cli.people.console import links_for
from abacus.console.app import SERVED
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.settings import Settings
from benchmarks.api import free_port, is_up
from benchmarks.console_house import furnish
from benchmarks.console_requests import ADMIN, ROLES, Asked, requests_of
from benchmarks.pipeline import worker
from benchmarks.report import Figure
from benchmarks.services import PARTITIONS
from benchmarks.workbench import cpu_seconds, listening, with_ended_children

TURNS: Final = 2
ROUNDS: Final = 30  # of a turn
TWINS: Final = 10
MOST_S: Final = 0.15
MOST_FIRST_BYTES: Final = 100 * 1024
MOST_MEMORY: Final = 200 << 20
_HIDDEN: Final = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')
_LOADED: Final = re.compile(r'(?:href|src)="(/static/[^"]+)"')
_HTML: Final = {"Accept": "text/html"}
_JSON: Final = {"Accept": "application/json"}


class Cpu(NamedTuple):
    """Seconds of processor time."""

    console: float
    postgres: float


class Answered(NamedTuple):
    """The first time of a page, the times of each turn, the times of its JSON twin, and the processor time of each."""

    asked: Asked
    first_s: float
    turns: Sequence[Sequence[float]]
    twin: Sequence[float]
    cpu: Cpu

    @property
    def p95_s(self) -> float:
        return min(map(_p95, self.turns))

    def figure(self) -> Figure:
        p50 = min(map(statistics.median, self.turns))
        turns = " and ".join(f"{_p95(each) * 1000:.0f}" for each in self.turns)
        return Figure(
            f"`{self.asked.name}`",
            f"{self.p95_s * 1000:.0f} ms",
            f"{turns} ms by turn; half within {p50 * 1000:.0f}; first {self.first_s * 1000:.0f};"
            f" JSON {_p95(self.twin) * 1000:.0f}; CPU {self.cpu.console * 1000:.0f} +"
            f" {self.cpu.postgres * 1000:.0f}",
            f"<= {MOST_S * 1000:.0f} ms",
            self.p95_s <= MOST_S,
        )


class Visited(NamedTuple):
    """Every page, the bytes of the first visit, and the memory of the process."""

    pages: Sequence[Answered]
    first_bytes: int
    memory: int


async def measure(directory: Path, accounts: int) -> list[Figure]:
    async with _stack(directory, durable=False) as settings:
        began = time.monotonic()
        await make_ready(settings, with_cards=False)
        await furnish(settings, accounts)
        print(f"  {accounts:,} accounts: filled in {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    async with _stack(directory, durable=True) as settings:  # with nothing in its buffers
        await make_ready(settings, with_cards=False)
        return figures_of(await visit(settings, accounts, requests_of(SERVED)), accounts)


@asynccontextmanager
async def _stack(directory: Path, *, durable: bool) -> AsyncIterator[Settings]:
    names = Settings()
    topics = (names.transactions_topic, names.points_topic, names.tiers_topic, names.events_topic)
    async with EmbeddedStack(directory, durable=durable, kafka_topics=dict.fromkeys(topics, PARTITIONS)) as stack:
        yield Settings(
            database_url=stack.database_url,
            sqs_endpoint_url=stack.sqs_endpoint_url,
            kafka_bootstrap=stack.kafka_bootstrap,
            console_port=free_port(),
        )


def figures_of(visited: Visited, accounts: int) -> list[Figure]:
    slowest = max(visited.pages, key=lambda each: each.p95_s)
    middle = statistics.median(each.p95_s for each in visited.pages)
    requests = sum(len(each.twin) + sum(map(len, each.turns)) for each in visited.pages)
    return [
        Figure(
            f"{len(visited.pages)} pages with {accounts:,} accounts, 95th percentile of the slowest",
            f"{slowest.p95_s * 1000:.0f} ms (`{slowest.asked.name}`)",
            f"the middle one {middle * 1000:.0f} ms",
            f"<= {MOST_S * 1000:.0f} ms",
            slowest.p95_s <= MOST_S,
        ),
        Figure(
            "the first visit of a browser, over the wire",
            f"{visited.first_bytes / 1024:.0f} KiB",
            f"{visited.first_bytes / MOST_FIRST_BYTES:.2f} of the limit",
            f"<= {MOST_FIRST_BYTES // 1024} KiB",
            visited.first_bytes <= MOST_FIRST_BYTES,
        ),
        Figure(
            f"memory of the console after {requests:,} pages",
            f"{visited.memory / (1 << 20):.0f} MiB",
            f"{visited.memory / MOST_MEMORY:.2f} of the limit",
            f"< {MOST_MEMORY >> 20} MiB",
            visited.memory < MOST_MEMORY,
        ),
        *(each.figure() for each in sorted(visited.pages, key=lambda each: -each.p95_s)),
    ]


async def visit(settings: Settings, accounts: int, asked: Sequence[Asked]) -> Visited:
    async with AsyncExitStack() as stack:
        process = await stack.enter_async_context(worker("console", settings))
        await is_up(settings.console_port)
        links = await links_for(settings, ROLES)
        base = f"http://127.0.0.1:{settings.console_port}"
        clients = {
            person: await stack.enter_async_context(httpx.AsyncClient(base_url=base, timeout=60)) for person in links
        }
        bytes_ = {person: await _sign_in(clients[person], link) for person, link in links.items()}
        pages = await _Visit(clients, accounts, process.pid, _postmaster(settings)).of(asked)
        return Visited(pages, bytes_[ADMIN], int(psutil.Process(process.pid).memory_info().rss))


class _Visit:
    """Asks for pages, one after the other."""

    def __init__(
        self, clients: Mapping[str, httpx.AsyncClient], accounts: int, console: int, postgres: psutil.Process
    ) -> None:
        self._clients = clients
        self._accounts = accounts
        self._console = console
        self._postgres = postgres

    async def of(self, asked: Sequence[Asked]) -> list[Answered]:
        firsts = [await self._timed(each, 0, _HTML) for each in asked]
        turns: list[list[list[float]]] = [[] for _ in asked]
        twins: list[list[float]] = [[] for _ in asked]
        cpu = [Cpu(0, 0) for _ in asked]
        for turn in range(TURNS):
            for place, each in enumerate(asked):
                before = self._cpu()
                numbers = range(1 + turn * ROUNDS, 1 + (turn + 1) * ROUNDS)
                turns[place].append([await self._timed(each, number, _HTML) for number in numbers])
                cpu[place] = Cpu(*((now - was) / ROUNDS for now, was in zip(self._cpu(), before, strict=True)))
                twins[place] += [await self._timed(each, number, _JSON) for number in range(TWINS)]
        return [Answered(*row) for row in zip(asked, firsts, turns, twins, cpu, strict=True)]

    async def _timed(self, asked: Asked, number: int, headers: Mapping[str, str]) -> float:
        address = asked.address(number, self._accounts)
        began = time.perf_counter()
        answer = await self._clients[asked.by].get(address, headers=headers)
        took = time.perf_counter() - began
        if answer.status_code != httpx.codes.OK:
            raise RuntimeError(f"{address}: {answer.status_code}\n{answer.text[-1000:]}")
        return took

    def _cpu(self) -> Cpu:
        working = sum(cpu_seconds(child.pid) for child in self._postgres.children())
        return Cpu(cpu_seconds(self._console), with_ended_children(self._postgres) + working)


def _postmaster(settings: Settings) -> psutil.Process:
    return listening()[urlsplit(settings.required("database_url")).port or 0]


async def _sign_in(client: httpx.AsyncClient, link: str) -> int:
    """Returns the bytes of the first page with all that it loads, as a browser asks for them."""
    page = await client.get(link)
    form = {name: unescape(value) for name, value in _HIDDEN.findall(page.text)}
    entered = await client.post("/sign-in/link", data=form)
    if entered.status_code != httpx.codes.SEE_OTHER:
        raise RuntimeError(f"the link does not let in: {entered.status_code}")
    home = await client.get("/", headers=_HTML)
    loaded = [await _bytes(client, unescape(each)) for each in dict.fromkeys(_LOADED.findall(home.text))]
    return len(home.content) + sum(loaded)


async def _bytes(client: httpx.AsyncClient, path: str) -> int:
    async with client.stream("GET", path, headers={"Accept-Encoding": "gzip"}) as answer:
        return sum([len(each) async for each in answer.aiter_raw()])


def _p95(times: Sequence[float]) -> float:
    return statistics.quantiles(times, n=20, method="inclusive")[-1]
