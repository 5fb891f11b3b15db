"""Requests at a steady rate, whatever the answers take. A delay begins at the moment at which the request was due."""

import asyncio
import random
import time
from collections.abc import Iterator

from benchmarks.api import Load, exchange


async def paced(port: int, requests: Iterator[bytes], per_s: float, seconds: float, *, connections: int = 64) -> Load:
    """Sends so many requests a second, at random moments, over whichever connection is free."""
    free: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()
    for _ in range(connections):
        free.put_nowait(await asyncio.open_connection("127.0.0.1", port))
    delays: list[float] = []

    async def ask(due: float) -> None:
        connection = await free.get()
        await exchange(*connection, next(requests))
        delays.append(time.perf_counter() - due)
        free.put_nowait(connection)

    rng = random.Random(4)
    began = due = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        while due < began + seconds:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            group.create_task(ask(due))
            due += rng.expovariate(per_s)
    while not free.empty():
        free.get_nowait()[1].close()
    return Load(len(delays) / (time.perf_counter() - began), delays)
