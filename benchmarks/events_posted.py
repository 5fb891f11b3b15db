"""Events that senders post one a call, from many callers at once: gathered by the desk, each by itself, in batches."""

import statistics
from collections.abc import Iterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, Final, NamedTuple

from abacus.core.clock import SystemClock
from abacus.documents.store import DocumentStore
from abacus.platform.kafka.offsets import ends_of
from abacus.platform.postgres import open_pool
from abacus.signals.events.decide.source import parse_source
from abacus.signals.events.kind import SOURCES, Reserved
from benchmarks.api import Load, free_port, is_up, load, request
from benchmarks.callers import entered_partner
from benchmarks.pipeline import worker
from benchmarks.report import Figure, rate
from benchmarks.services import real_services, rooms

SECONDS: Final = 5.0  # a round
ROUNDS: Final = 3
CALLERS: Final = 128
BATCH: Final = 50
BATCH_CALLERS: Final = 8
WANTED: Final = 5  # times as many as without gathering

_SOURCE: Final[dict[str, Any]] = {
    "source": "shop",
    "senders": ["acme"],
    "types": {"basket.filled": {"shop": "text", "items": "integer"}},
}


class _Ways(NamedTuple):
    """The rounds of each way to post events."""

    gathered: list[Load]
    alone: list[Load]
    batches: list[Load]


async def measure(_: Path) -> list[Figure]:
    async with AsyncExitStack() as stack:
        settings = await stack.enter_async_context(rooms(await stack.enter_async_context(real_services()), 0))
        pool = await open_pool(settings.required("database_url"), size=2)
        stack.push_async_callback(pool.close)
        reserved = Reserved((), settings.events_topic)
        await DocumentStore(pool, SOURCES).publish(
            [parse_source(_SOURCE)], reserved.look, by="benchmark", now=SystemClock().now()
        )
        key = await entered_partner(pool, awards=True)
        ports = free_port(), free_port()
        for port, module in zip(ports, (("abacus", "worker"), ("benchmarks.events_unbuffered",)), strict=True):
            served = settings.model_copy(update={"api_port": port})
            await stack.enter_async_context(worker("api", served, module=module))
            await is_up(port)
        ways, posted = await _posted(key, *ports)
        ends = await ends_of(settings.required("kafka_bootstrap"), settings.events_topic)
    gathered, alone, batches = (statistics.mean(each.per_s for each in loads) for loads in ways)
    p99_ms = [statistics.mean(each.p99_ms for each in loads) for loads in ways]
    lost = posted - sum(ends.values())
    return [
        Figure(
            f"events, one a call, {CALLERS} callers, one process",
            f"{rate(gathered, 'requests')}, p99 {p99_ms[0]:.0f} ms",
            f"{gathered / alone:.1f} times those that are published one by one",
            f">= {WANTED} times",
            gathered >= WANTED * alone,
            anywhere=True,
        ),
        Figure("… each published by itself, one after the other", f"{rate(alone, 'requests')}, p99 {p99_ms[1]:.0f} ms"),
        Figure(
            f"events in batches of {BATCH}, {BATCH_CALLERS} callers",
            f"{rate(batches * BATCH, 'events')}, p99 {p99_ms[2]:.0f} ms",
            f"{batches * BATCH / gathered:.1f} times single events",
        ),
        Figure(
            "events that were answered for and that the broker lacks",
            f"{max(0, lost):,} of {posted:,}",
            wanted="0",
            reached=lost <= 0,
            anywhere=True,
        ),
    ]


async def _posted(key: str, port: int, port_alone: int) -> tuple[_Ways, int]:
    """All ways in turns, and how many events were answered for."""
    ways = _Ways([], [], [])
    numbers = count()
    await load(port, _singly(key, numbers), CALLERS, SECONDS / 2)
    await load(port_alone, _singly(key, numbers), CALLERS, SECONDS / 2)
    for _ in range(ROUNDS):
        ways.gathered.append(await load(port, _singly(key, numbers), CALLERS, SECONDS))
        ways.alone.append(await load(port_alone, _singly(key, numbers), CALLERS, SECONDS))
        ways.batches.append(await load(port, _together(key, numbers), BATCH_CALLERS, SECONDS))
    answered = [len(each.latencies_s) for each in (*ways.gathered, *ways.alone)]
    return ways, sum(answered) + BATCH * sum(len(each.latencies_s) for each in ways.batches)


def _singly(key: str, numbers: Iterator[int]) -> Iterator[bytes]:
    for number in numbers:
        yield request("POST", "/v1/events", key, _event(number))


def _together(key: str, numbers: Iterator[int]) -> Iterator[bytes]:
    while True:
        yield request("POST", "/v1/events/batch", key, {"events": [_event(next(numbers)) for _ in range(BATCH)]})


def _event(number: int) -> dict[str, Any]:
    return {
        "source": "shop",
        "type": "basket.filled",
        "id": f"B-{number}",
        "occurred_at": datetime.now(UTC).isoformat(),
        "var": {"shop": "7", "items": number % 9},
    }
