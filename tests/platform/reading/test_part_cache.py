"""Parts of answers are looked up together, and read once for all who want them; one that is old is read anew."""

import asyncio
import random
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias

import pytest

from abacus.core.errors import Unavailable
from abacus.platform.metrics import CACHE_ANSWERS, CACHE_LET_GO, total
from abacus.platform.reading.caches import Caches
from abacus.platform.reading.decide.lifetimes import Lifetimes
from abacus.platform.reading.decide.shares import Setting
from abacus.platform.reading.decide.shelf import OVERHEAD
from abacus.platform.reading.part_cache import PartCache
from abacus.platform.reading.shared_cache import NothingShared, SharedCache
from abacus.platform.reading.types import Codec, Route
from tests.platform.reading.memory_shared_cache import MemorySharedCache
from tests.support.fixed_clock import FixedClock

Page: TypeAlias = tuple[str, int]  # of a book

NOON: Final = datetime(2026, 11, 28, 12, tzinfo=UTC)
ROUTE: Final = Route[Page, str](
    "pages", Lifetimes(100, jitter=0.0), 10_000, size_of=lambda *_: 100, codec=Codec[str](write=str, read=str)
)


class Scene:
    """A library in which each page says how often it was read. It answers at once while it `flows`."""

    def __init__(
        self, route: Route[Page, str] = ROUTE, shared: SharedCache | None = None, clock: FixedClock | None = None
    ) -> None:
        self.clock = clock or FixedClock(NOON)
        self.read: list[Sequence[Page]] = []
        self.flows = asyncio.Event()
        self.flows.set()
        self.fails: Unavailable | None = None
        self.breaks: Exception | None = None
        self.cache = PartCache(route, clock=self.clock, shared=shared or NothingShared(), rng=random.Random(7))

    async def lookup(self, wanted: Sequence[Page], found: dict[Page, str]) -> Unavailable | None:
        self.read.append(wanted)
        at = len(self.read)
        await self.flows.wait()
        if self.breaks is not None:
            raise self.breaks
        if self.fails is None:
            found.update({page: f"{page[0]}{page[1]} of {at}" for page in wanted})
        return self.fails

    async def ask(self, *pages: Page) -> list[str | None]:
        values, _ = await self.cache.read(pages, self.lookup)
        return [values.get(page) for page in pages]

    def known(self, book: str, *numbers: int) -> tuple[list[str], list[int]]:
        found, missing = self.cache.known(book, [(number,) for number in numbers], self.clock.now().timestamp())
        return found, [number for (number,) in missing]

    def passes(self, seconds: float) -> None:
        self.clock.set(self.clock.now() + timedelta(seconds=seconds))

    async def rests(self) -> None:
        async with asyncio.timeout(10):
            while self.cache.refreshing:  # noqa: ASYNC110  # turns of the loop, not time
                await asyncio.sleep(0)

    async def asked(self, times: int) -> None:
        async with asyncio.timeout(10):
            while len(self.read) < times:  # noqa: ASYNC110  # turns of the loop, not time
                await asyncio.sleep(0)


def pages(book: str, numbers: Iterable[int]) -> list[Page]:
    return [(book, number) for number in numbers]


async def test_parts_are_known_until_their_time_is_over() -> None:
    scene = Scene()
    assert scene.known("a", 1, 2) == ([], [1, 2])
    assert await scene.ask(("a", 1), ("b", 1)) == ["a1 of 1", "b1 of 1"]
    scene.passes(60)
    assert scene.known("a", 1, 2) == (["a1 of 1"], [2])
    await scene.ask(("a", 2))
    assert scene.known("a", 2, 1) == (["a2 of 2", "a1 of 1"], [])
    scene.passes(40)
    assert scene.known("a", 1, 2) == (["a2 of 2"], [1])
    await scene.ask(("a", 3))
    assert scene.known("a", 1, 2, 3) == (["a2 of 2", "a3 of 3"], [1])


async def test_parts_that_were_read_together_are_not_read_together_again() -> None:
    scene = Scene(ROUTE._replace(lifetimes=Lifetimes(100, jitter=0.5)))
    await scene.ask(*pages("a", range(40)))
    scene.passes(49)
    assert scene.known("a", *range(40))[1] == []
    scene.passes(26)
    assert 5 < len(scene.known("a", *range(40))[1]) < 35
    scene.passes(25)
    assert len(scene.known("a", *range(40))[1]) == 40


async def test_one_reads_for_all_who_ask_meanwhile() -> None:
    scene = Scene()
    scene.flows.clear()
    first = asyncio.create_task(scene.ask(("a", 1), ("a", 2)))
    await scene.asked(1)
    others = [asyncio.create_task(scene.ask(("a", 2), ("a", number), ("a", 2))) for number in (1, 3)]
    await scene.asked(3)
    scene.flows.set()
    assert await first == ["a1 of 1", "a2 of 1"]
    assert [await each for each in others] == [["a2 of 1", "a1 of 1", "a2 of 1"], ["a2 of 1", "a3 of 3", "a2 of 1"]]
    assert scene.read == [[("a", 1), ("a", 2)], [], [("a", 3)]]


async def test_what_came_since_it_was_looked_up_is_not_read_again() -> None:
    scene = Scene()
    await scene.ask(("a", 1))
    assert await scene.ask(("a", 1), ("a", 2)) == ["a1 of 1", "a2 of 2"]
    assert scene.read[1] == [("a", 2)]


async def test_a_failure_is_told_to_all_who_waited_and_not_kept() -> None:
    scene = Scene()
    scene.flows.clear()
    scene.fails = shut = Unavailable("library", "it is shut")
    fails = asyncio.create_task(scene.cache.read([("a", 1)], scene.lookup))
    await scene.asked(1)
    waits = asyncio.create_task(scene.cache.read([("a", 1)], _nothing))
    await asyncio.sleep(0)
    scene.flows.set()
    assert [await fails, await waits] == [({}, shut), ({}, shut)]
    scene.fails = None
    assert await scene.ask(("a", 1)) == ["a1 of 2"]


async def test_a_reading_that_breaks_leaves_nobody_waiting() -> None:
    scene = Scene()
    scene.flows.clear()
    scene.breaks = ZeroDivisionError()
    breaks = asyncio.create_task(scene.ask(("a", 1)))
    await scene.asked(1)
    waits = asyncio.create_task(scene.cache.read([("a", 1)], _nothing))
    await asyncio.sleep(0)
    scene.flows.set()
    with pytest.raises(ZeroDivisionError):
        await breaks
    found, why = await waits
    assert (found, str(why)) == ({}, "pages unavailable: the reading broke off")
    scene.breaks = None
    assert await scene.ask(("a", 1)) == ["a1 of 2"]


async def _nothing(*_: object) -> None:
    """Reads nothing."""


async def test_it_has_a_bound_in_bytes_and_the_keys_that_nobody_asked_for_go_first() -> None:
    let_go = total(CACHE_LET_GO, route="pages", why="room")
    scene = Scene(ROUTE._replace(most_bytes=3 * (OVERHEAD + 200)))
    for book in "abc":
        await scene.ask(*pages(book, (1, 2)))
    assert scene.known("a", 1, 2)[1] == []
    await scene.ask(*pages("d", (1, 2)))
    assert [book for book in "abcd" if scene.known(book, 1)[0]] == ["a", "c", "d"]
    assert total(CACHE_LET_GO, route="pages", why="room") == let_go + 1
    assert await scene.ask(*pages("e", range(20))) != []
    assert scene.known("e", 1) == ([], [1])  # larger than all room


async def test_shares_are_set_as_of_all_caches() -> None:
    clock = FixedClock(NOON)
    caches = Caches(clock)
    cache = caches.of_parts(ROUTE)
    assert (cache.share, caches.settings) == (0, {})  # before there are settings
    scene = Scene()
    for name, percent, share in (
        ("cache:pages", 70, 70),
        ("cache:pages", 35, 35),
        ("caches", 0, 0),
        ("cache:x", 1, 100),
    ):
        await cache.read([("a", 1)], scene.lookup)
        before = len(cache)
        caches.switch({name: Setting(name, percent, NOON, "tests")})
        assert cache.share == share
        assert len(cache) == (0 if share in {35, 0} else before)
    await caches.close()
    assert (len(cache), caches.refreshing) == (0, 0)


async def test_what_is_read_while_the_share_falls_is_told_and_not_kept() -> None:
    scene = Scene()
    scene.cache.limit(100)
    scene.flows.clear()
    reads = asyncio.create_task(scene.ask(("a", 1)))
    await scene.asked(1)
    scene.cache.limit(50)
    scene.flows.set()
    assert await reads == ["a1 of 1"]
    assert scene.known("a", 1) == ([], [1])


async def test_what_one_process_read_another_has_until_it_is_as_old() -> None:
    clock = FixedClock(NOON)
    shared = MemorySharedCache(clock)
    one, other = Scene(shared=shared, clock=clock), Scene(shared=shared, clock=clock)
    await one.ask(("a", 1), ("ü 8", 2))
    await one.rests()
    assert list(shared.texts) == ["answer:pages:1::('a', 1)", "answer:pages:1::('ü 8', 2)"]
    one.passes(30)
    assert await other.ask(("ü 8", 2), ("a", 1), ("a", 3)) == ["ü 82 of 1", "a1 of 1", "a3 of 1"]
    assert other.read == [[("a", 3)]]
    one.passes(69)
    assert other.known("a", 1) == (["a1 of 1"], [])
    one.passes(1)
    assert other.known("a", 1, 3) == (["a3 of 1"], [1])  # by its age in all processes


async def test_a_part_is_read_before_it_is_old_for_all() -> None:
    """Of the processes that share it the first reads it anew, and the others take that."""
    clock = FixedClock(NOON)
    shared = MemorySharedCache(clock)
    route = ROUTE._replace(lifetimes=Lifetimes(100, jitter=0.5))
    scenes = [Scene(route, shared, clock) for _ in range(2)]
    for scene in scenes:
        await scene.ask(("a", 1))
        await scene.rests()
    assert [len(scene.read[0]) for scene in scenes] == [1, 0]
    clock.set(NOON + timedelta(seconds=99))
    for scene in scenes:
        assert scene.known("a", 1)[1] == [1]
        await scene.ask(("a", 1))
        await scene.rests()
    assert [len(scene.read[1]) for scene in scenes] == [1, 0]


async def test_each_part_is_counted_once() -> None:
    route = ROUTE._replace(name="counted")
    scene = Scene(route)
    await scene.ask(("a", 1), ("a", 2), ("a", 1))
    scene.known("a", 1, 2, 3)
    scene.fails = Unavailable("library", "it is shut")
    await scene.ask(("a", 3))
    told = {each: total(CACHE_ANSWERS, route="counted", outcome=each) for each in ("hit", "wait", "miss", "failed")}
    assert told == {"hit": 2, "wait": 1, "miss": 2, "failed": 1}
