"""A fault: a name, how it is injected, and work that counts how often it really struck."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from random import Random
from typing import Final, NamedTuple, TypeAlias, TypeVar

from tests.reliability.chaos.ground import ProvingGround
from tests.reliability.chaos.needs import Need

_LOOK_EVERY_S: Final = 0.1

Option = TypeVar("Option")

Struck: TypeAlias = Counter[str]
# While the block lasts, the fault strikes; when it is left, everything is whole again.
Work: TypeAlias = Callable[[ProvingGround, Random], AbstractAsyncContextManager[Struck]]


class Fault(NamedTuple):
    """`how` says what happens. Each name in `counts` has to strike, but for as many as `may_miss`; without names one
    strike of any kind is enough.

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
        """The names that should have struck and never did."""
        if not self.counts:
            return [] if struck.total() else [self.name]
        missed = [name for name in self.counts if not struck[name]]
        return missed if len(missed) > self.may_miss else []


@asynccontextmanager
async def at_moments(
    strike: Callable[[Struck], Awaitable[None]], rng: Random, *, every_s: tuple[float, float]
) -> AsyncIterator[Struck]:
    """Strike again and again at random intervals. A strike that was begun is carried to its end."""
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
    """Return once the fault has struck, or after so long: some faults strike seldom."""
    deadline = time.monotonic() + seconds
    while not has_struck() and time.monotonic() < deadline:  # noqa: ASYNC110  # it is counted elsewhere
        await asyncio.sleep(_LOOK_EVERY_S)


def in_turn(options: Sequence[Option], rng: Random) -> Iterator[Option]:
    """The options without end, each as often as the others, in random order."""
    while True:
        yield from rng.sample(options, len(options))
