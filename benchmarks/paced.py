"""An open loop: requests come by a clock, whatever the answers take. A delay begins at the moment at which the request
was due, so that a stall is counted for all who came meanwhile. By how much the callers' own process was late is told
apart: on a machine of two cores it shares them with the process that answers, and with the database.
"""

import asyncio
import gc
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from benchmarks.api import Load, exchange

Asked = TypeVar("Asked")


async def open_loop(
    ask: Callable[[Asked], Awaitable[object]], items: Iterator[Asked], per_s: Callable[[float], float], seconds: float
) -> Load:
    """Asks at random moments for so long. `per_s` is the rate at a second since the begin."""
    delays: list[float] = []
    late: list[float] = []

    async def answer(item: Asked, due: float) -> None:
        late.append(time.perf_counter() - due)
        await ask(item)
        delays.append(time.perf_counter() - due)

    rng = random.Random(4)
    with _no_search_for_garbage():
        began = due = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            while due < began + seconds:
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                group.create_task(answer(next(items), due))
                due += rng.expovariate(per_s(due - began))
        return Load(len(delays) / (time.perf_counter() - began), delays, late)


@contextmanager
def _no_search_for_garbage() -> Iterator[None]:
    """A search among what a benchmark has made would be a stall of who asks, and be told as one of who answers."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


async def paced(port: int, requests: Iterator[bytes], per_s: float, seconds: float, *, connections: int = 64) -> Load:
    """Sends so many requests a second, over whichever connection is free."""
    free: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()
    for _ in range(connections):
        free.put_nowait(await asyncio.open_connection("127.0.0.1", port))

    async def ask(request: bytes) -> None:
        connection = await free.get()
        await exchange(*connection, request)
        free.put_nowait(connection)

    done = await open_loop(ask, requests, lambda _: per_s, seconds)
    while not free.empty():
        free.get_nowait()[1].close()
    return done
