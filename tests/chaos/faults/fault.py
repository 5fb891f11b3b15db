"""What a fault is: a name, how it is injected, and work that counts how often it really struck."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from enum import StrEnum
from random import Random
from typing import NamedTuple, TypeAlias

from tests.chaos.house import House

Struck: TypeAlias = Counter[str]
# While the block lasts, the fault strikes; when it is left, everything is whole again.
Work: TypeAlias = Callable[[House, Random], AbstractAsyncContextManager[Struck]]


class Need(StrEnum):
    """What of the house is built otherwise for a fault."""

    SQS_PROXY = "a proxy in front of SQS"
    POSTGRES_PROXY = "a proxy in front of Postgres"
    SMALL_DISK = "a Postgres of its own on a small disk"
    WRONG_CLOCKS = "workers whose clocks are wrong"


class Fault(NamedTuple):
    """`how` completes "a fault: …" in the list and in the table."""

    name: str
    how: str
    work: Work
    needs: frozenset[Need] = frozenset()


@asynccontextmanager
async def at_moments(
    strike: Callable[[Struck], Awaitable[None]], rng: Random, *, every_s: tuple[float, float]
) -> AsyncIterator[Struck]:
    """Strike again and again, a random time apart. A strike that was begun is carried to its end."""
    struck: Struck = Counter()
    over = asyncio.Event()

    async def work() -> None:
        while not over.is_set():
            try:
                await asyncio.wait_for(over.wait(), rng.uniform(*every_s))
            except TimeoutError:
                await strike(struck)

    working = asyncio.create_task(work())
    try:
        yield struck
    finally:
        over.set()
        await working
