"""A cache of answers under a test's own time, over a store that the test stops and changes."""

import asyncio
import random
from collections import Counter
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from abacus.core.errors import Unavailable
from abacus.platform.reading.answer_cache import AnswerCache
from abacus.platform.reading.decide.lifetimes import Lifetimes
from abacus.platform.reading.shared_cache import NothingShared, SharedCache
from abacus.platform.reading.types import Codec, Route
from tests.support.fixed_clock import FixedClock

NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)
LIVES = Lifetimes(fresh_s=10, stale_s=20, away_s=70, jitter=0.0)


class Dish(NamedTuple):
    """An answer of the store: a name, and how many changes it knows."""

    name: str
    edition: int


def tags_of(key: str, _: Dish) -> Collection[str]:
    """The names of a key; a dish of two is touched by a change of either."""
    return key.split("+")


WRITTEN = Codec[Dish](
    write=lambda dish: f"{dish.edition} {dish.name}",
    read=lambda text: Dish(text.split(" ", 1)[1], int(text.split(" ", 1)[0])),
)
ROUTE = Route[str, Dish](
    name="dishes", lifetimes=LIVES, most_bytes=100_000, size_of=lambda key, _: len(key), tags_of=tags_of, codec=WRITTEN
)


class Scene:
    """The store answers at once while it `flows`; else each computation waits in it. `sees` is the edition that
    computations read when they begin.
    """

    def __init__(
        self, route: Route[str, Dish] = ROUTE, shared: SharedCache | None = None, begins: datetime = NOON
    ) -> None:
        self.now = 0.0
        self._begins = begins
        self.clock = FixedClock(begins)
        self.edition = 1
        self.fails: Exception | None = None
        self.flows = asyncio.Event()
        self.flows.set()
        self.begun: Counter[str] = Counter()
        self.cache: AnswerCache[str, Dish] = AnswerCache(
            route,
            self.cook,
            clock=self.clock,
            version_of=lambda _: (self.edition,),
            shared=shared or NothingShared(),
            monotonic=lambda: self.now,
            rng=random.Random(7),
        )

    async def cook(self, key: str) -> Dish:
        self.begun[key] += 1
        edition = self.edition
        await self.flows.wait()
        if self.fails is not None:
            raise self.fails
        return Dish(key, edition)

    def change(self, *tags: str) -> None:
        """First the store has it, then the cache is told."""
        self.edition += 1
        self.cache.drop(tags)

    async def ask(self, key: str) -> tuple[int, float]:
        """The edition and the age of the answer."""
        value, age_s = await self.cache.get(key)
        return value.edition, age_s

    async def begun_times(self, key: str, times: int) -> None:
        async with asyncio.timeout(10):
            while self.begun[key] < times:  # noqa: ASYNC110  # turns of the loop, not time
                await asyncio.sleep(0)

    async def rests(self) -> None:
        """Returns when nothing is refreshed any more."""
        async with asyncio.timeout(10):
            while self.cache.refreshing:  # noqa: ASYNC110  # turns of the loop, not time
                await asyncio.sleep(0)

    def passes(self, seconds: float) -> None:
        self.now += seconds
        self.clock.set(self._begins + timedelta(seconds=self.now))


def away() -> Unavailable:
    return Unavailable("store", "it is away")


def asking(scene: Scene, key: str) -> "asyncio.Task[Any]":
    return asyncio.create_task(scene.ask(key))
