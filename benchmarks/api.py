"""The partner award API: one process, with the awarder, Postgres, SQS and the callers on the same machine."""

import asyncio
import json
import socket
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from itertools import count, takewhile
from pathlib import Path
from typing import Any, Final, NamedTuple

import psutil

from abacus.cli.house.stack import make_ready
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.postgres import Pool, open_pool
from abacus.platform.settings import Settings
from benchmarks.callers import entered_partner
from benchmarks.pipeline import worker
from benchmarks.report import Figure, rate

SECONDS: Final = 5.0  # a round
ROUNDS: Final = 3
CALLERS: Final = 32
BATCH: Final = 100
BATCH_CALLERS: Final = 8
MEMBERS: Final = 10_000

WANTED_SINGLE: Final = 1_200
WANTED_P99_MS: Final = 50
WANTED_BATCHED: Final = 6_000
WANTED_READS: Final = 1_500
MOST_MEMORY: Final = 250 * 1024 * 1024
HOURS_WORTH: Final = 360_000  # requests: a hundred a second
_FINE: Final = (200, 201, 202)


class Load(NamedTuple):
    """The result of a round of requests. `late_s` is by how much the callers themselves were late with each, where a
    clock has said when it was due.
    """

    per_s: float
    latencies_s: list[float]
    late_s: Sequence[float] = ()

    @property
    def p99_ms(self) -> float:
        return _p99_ms(self.latencies_s)

    @property
    def late_p99_ms(self) -> float:
        return _p99_ms(self.late_s)


def _p99_ms(seconds: Sequence[float]) -> float:
    return statistics.quantiles(seconds, n=100)[98] * 1000


class Service(NamedTuple):
    """A running API, with the database and queues behind it."""

    settings: Settings
    pool: Pool
    pid: int
    port: int
    key: str

    @property
    def memory(self) -> int:
        return int(psutil.Process(self.pid).memory_info().rss)


async def measure(directory: Path) -> list[Figure]:
    async with AsyncExitStack() as stack:
        api = await service(stack, directory)
        alone = free_port()
        await stack.enter_async_context(
            worker("", api.settings.model_copy(update={"api_port": alone}), module=("benchmarks.api_unbatched",))
        )
        await is_up(alone)
        return await _measure(api, alone)


async def measure_hour(directory: Path) -> list[Figure]:
    """Send an hour's requests at a hundred a second as fast as they are answered, and measure the backlog that they
    leave.
    """
    async with AsyncExitStack() as stack:
        api = await service(stack, directory)
        grants, batches, reads = grant_requests(api.key), batch_requests(api.key), _reads(api.key)
        sent = len((await load(api.port, grants, CALLERS, SECONDS)).latencies_s)
        first = most = api.memory
        while sent < HOURS_WORTH:
            for requests in (grants, reads, batches):
                sent += len((await load(api.port, requests, CALLERS, SECONDS)).latencies_s)
                most = max(most, api.memory)
            await drained(api.pool)
    return [
        Figure(
            f"memory of the API, the most over {sent:,} requests",
            f"{most / 1024 / 1024:.0f} MiB",
            f"{most / first:.2f} of that after the first round",
            "< 250 MiB",
            most < MOST_MEMORY,
        )
    ]


async def service(stack: AsyncExitStack, directory: Path) -> Service:
    embedded = await stack.enter_async_context(EmbeddedStack(directory, kafka=False))
    settings = Settings(database_url=embedded.database_url, sqs_endpoint_url=embedded.sqs_endpoint_url)
    await make_ready(settings)
    pool = await open_pool(settings.required("database_url"), size=2)
    stack.push_async_callback(pool.close)
    key = await entered_partner(pool, awards=True, may_spend=True)
    await stack.enter_async_context(worker("awarder", settings))
    port = free_port()
    process = await stack.enter_async_context(worker("api", settings.model_copy(update={"api_port": port})))
    await is_up(port)
    return Service(settings, pool, process.pid, port, key)


async def _measure(api: Service, unbatched_port: int) -> list[Figure]:
    pool, port = api.pool, api.port
    grants, batches, reads = grant_requests(api.key), batch_requests(api.key), _reads(api.key)
    rounds: dict[str, list[Load]] = {"together": [], "alone": [], "batches": [], "reads": []}
    await load(port, grants, CALLERS, SECONDS / 2)
    first = api.memory
    for _ in range(ROUNDS):
        rounds["together"].append(await load(port, grants, CALLERS, SECONDS))
        await drained(pool)
        rounds["alone"].append(await load(unbatched_port, grants, CALLERS, SECONDS))
        await drained(pool)
        rounds["batches"].append(await load(port, batches, BATCH_CALLERS, SECONDS))
        await drained(pool)
        rounds["reads"].append(await load(port, reads, CALLERS, SECONDS))
    memory = api.memory
    single, by_itself, batched, read = (statistics.mean(each.per_s for each in loads) for loads in rounds.values())
    requests = sum(len(each.latencies_s) for name, loads in rounds.items() for each in loads if name != "alone")
    p99 = {name: statistics.mean(each.p99_ms for each in loads) for name, loads in rounds.items()}
    return [
        Figure(
            f"API, single awards, {CALLERS} callers, one process",
            f"{rate(single, 'requests')}, p99 {p99['together']:.0f} ms",
            f"{single / by_itself:.1f} times those without coalescing",
            f">= {WANTED_SINGLE:,}/s, p99 < {WANTED_P99_MS} ms",
            single >= WANTED_SINGLE and p99["together"] < WANTED_P99_MS,
        ),
        Figure("… each sent by itself", f"{rate(by_itself, 'requests')}, p99 {p99['alone']:.0f} ms"),
        Figure(
            f"API, batches of {BATCH}, {BATCH_CALLERS} callers",
            f"{rate(batched * BATCH, 'awards')}, p99 {p99['batches']:.0f} ms",
            f"{batched * BATCH / single:.1f} times single awards",
            f">= {WANTED_BATCHED:,}/s",
            batched * BATCH >= WANTED_BATCHED,
        ),
        Figure(
            f"API, a member's points, {CALLERS} callers",
            f"{rate(read, 'requests')}, p99 {p99['reads']:.0f} ms",
            f"{read / single:.1f} times single awards",
            f">= {WANTED_READS:,}/s",
            read >= WANTED_READS,
        ),
        Figure(
            f"memory of the API after {requests:,} requests",
            f"{memory / 1024 / 1024:.0f} MiB",
            f"{memory / first:.2f} of that after the first round",
            "< 250 MiB",
            memory < MOST_MEMORY,
        ),
    ]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


async def is_up(port: int) -> None:
    while True:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET /readyz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
            answer = await reader.read()
            writer.close()
            if b" 200 " in answer[:20]:
                return
        except OSError:
            pass
        await asyncio.sleep(0.1)


async def drained(pool: Pool) -> None:
    """Wait until every accepted award is posted."""
    waiting = "select exists (select from partner_award p where not exists (select from claim c where c.key = p.key))"
    while await pool.fetchval(waiting):  # noqa: ASYNC110  # it is another process that posts
        await asyncio.sleep(0.1)


def request(method: str, path: str, key: str, body: Any = None, more: str = "") -> bytes:
    content = b"" if body is None else json.dumps(body).encode()
    head = f"{method} {path} HTTP/1.1\r\nhost: api\r\nauthorization: Bearer {key}\r\n{more}"
    head += f"content-type: application/json\r\ncontent-length: {len(content)}\r\n\r\n"
    return head.encode() + content


def grant_requests(key: str) -> Iterator[bytes]:
    for number in count():
        body = {"member_id": f"m{number % MEMBERS}", "country": "SG", "points": 100, "reason": "Welcome"}
        yield request("POST", "/v1/awards", key, body, f"idempotency-key: s-{number}\r\n")


def batch_requests(key: str) -> Iterator[bytes]:
    for start in count(0, BATCH):
        awards = [
            {
                "idempotency_key": f"b-{number}",
                "member_id": f"m{number % MEMBERS}",
                "country": "SG",
                "points": 100,
                "reason": "Welcome",
            }
            for number in range(start, start + BATCH)
        ]
        yield request("POST", "/v1/awards/batch", key, {"awards": awards})


def _reads(key: str) -> Iterator[bytes]:
    for number in count():
        yield request("GET", f"/v1/members/m{number * 7 % MEMBERS}", key)


async def load(port: int, requests: Iterator[bytes], callers: int, seconds: float) -> Load:
    """Send requests for so long from so many callers; each sends the next when its last is answered."""
    began = time.perf_counter()
    return await load_all(port, takewhile(lambda _: time.perf_counter() - began < seconds, requests), callers)


async def load_all(port: int, requests: Iterator[bytes], callers: int) -> Load:
    """Send all of these requests, in the same manner."""
    latencies: list[float] = []
    began = time.perf_counter()
    await asyncio.gather(*(_call(port, requests, latencies) for _ in range(callers)))
    return Load(len(latencies) / (time.perf_counter() - began), latencies)


async def _call(port: int, requests: Iterator[bytes], latencies: list[float]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for request in requests:
        began = time.perf_counter()
        await exchange(reader, writer, request)
        latencies.append(time.perf_counter() - began)
    writer.close()


async def exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> bytes:
    """Sends a request, and returns the body of its answer. Raises `RuntimeError` if that is an error."""
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    body = await reader.readexactly(length)
    if int(head[9:12]) not in _FINE and request.startswith(b"POST"):
        raise RuntimeError(f"{head!r} {body!r}")
    return body
