"""What a fault is: a name, how it is injected, and work that counts how often it really struck."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from random import Random
from typing import Final, NamedTuple, TypeAlias, TypeVar

from tests.chaos.ground import ProvingGround
from tests.chaos.needs import Need

_LOOK_EVERY_S: Final = 0.1

Option = TypeVar("Option")

Struck: TypeAlias = Counter[str]
# While the block lasts, the fault strikes; when it is left, everything is whole again.
Work: TypeAlias = Callable[[ProvingGround, Random], AbstractAsyncContextManager[Struck]]


class Fault(NamedTuple):
    """`how` says what happens. What it `counts` has to have struck, each of it but so many as it `may_miss`; without
    names, anything.

    `lasts` is for how many times as long as usual the workload is sent, so that everything has its turn.
    """

    name: str
    how: str
    work: Work
    needs: frozenset[Need] = frozenset()
    counts: tuple[str, ...] = ()
    lasts: float = 1.0
    may_miss: int = 0

    def missed(self, struck: Struck) -> list[str]:
        """What never struck and should have."""
        if not self.counts:
            return [] if struck.total() else [self.name]
        missed = [name for name in self.counts if not struck[name]]
        return missed if len(missed) > self.may_miss else []


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


async def struck_within(has_struck: Callable[[], bool], seconds: float) -> None:
    """Stay until it has, or for so long: some strike seldom."""
    deadline = time.monotonic() + seconds
    while not has_struck() and time.monotonic() < deadline:  # noqa: ASYNC110  # it is counted elsewhere
        await asyncio.sleep(_LOOK_EVERY_S)


def in_turn(options: Sequence[Option], rng: Random) -> Iterator[Option]:
    """Without end, each as often as the others, in an order by chance."""
    while True:
        yield from rng.sample(options, len(options))
