"""Work that is split over the slices: done side by side, each part at its slice, with patience for each.

What a slice that is away or slow would have done waits, and holds up nothing else.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from math import inf
from operator import attrgetter
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

from abacus.core.errors import Unavailable
from abacus.platform.postgres import DEPENDENCY, Pool
from abacus.platform.slices.reach import Slice, slice_map_of, slices_of, some_are_away

Thing = TypeVar("Thing")
Part = TypeVar("Part")
Result = TypeVar("Result")

PATIENCE_S: Final = 2.0  # with a slice that takes longer than others
AT_ONCE: Final = 8  # slices that one caller works in

_member_of: Final = attrgetter("member_id")


class TooSlow(Unavailable):
    """A slice takes longer than others."""


class Split(NamedTuple, Generic[Thing, Result]):
    """What came of work that was split: the results of the slices in their order, the things of slices that are away
    or too slow, and why these wait.
    """

    done: Sequence[Result]
    waiting: Sequence[Thing]
    errors: Sequence[Unavailable]

    def in_reach(self) -> Sequence[Result]:
        """The results, without what waits. Raises `Unavailable` when everything waits."""
        if self.errors and not self.done:
            raise self.errors[0]
        return self.done

    def whole(self) -> Sequence[Result]:
        """The results of all slices. Raises `Unavailable` when anything waits."""
        if self.errors:
            raise self.errors[0]
        return self.done


# Does the part of one slice.
Work: TypeAlias = Callable[[Slice, Sequence[Thing]], Coroutine[Any, Any, Result]]


async def split(
    pool: Pool,
    things: Iterable[Thing],
    work: Work[Thing, Result],
    *,
    member_of: Callable[[Thing], str] = _member_of,
    patience_s: float | None = PATIENCE_S,
    reads: bool = False,
) -> Split[Thing, Result]:
    """What comes of the things, each done in its member's slice, and what waits. Work that was cut off may be done: it
    is found when it comes again. Raises what the work raises; `Unavailable` only when no slice's server is away. Work
    that only `reads` may fail in a slice for any reason while others answer.
    """
    parts = (await slice_map_of(pool)).by_slice(things, member_of)
    return await in_slices(pool, parts, work, patience_s=patience_s, reads=reads)


async def everywhere(
    pool: Pool,
    work: Callable[[Slice], Coroutine[Any, Any, Result]],
    *,
    patience_s: float | None = PATIENCE_S,
    reads: bool = False,
) -> Split[Slice, Result]:
    """The same of work in every slice."""
    parts = {each.number: [each] for each in await slices_of(pool)}
    return await in_slices(pool, parts, lambda each, _: work(each), patience_s=patience_s, reads=reads)


async def in_slices(
    pool: Pool,
    parts: Mapping[int, Sequence[Thing]],
    work: Work[Thing, Result],
    *,
    patience_s: float | None = PATIENCE_S,
    at_once: int = AT_ONCE,
    reads: bool = False,
) -> Split[Thing, Result]:
    """The same, where it is known what each slice has to do. Slices are begun in the order of the parts."""
    slices = await slices_of(pool)
    results = await side_by_side(
        {number: partial(work, slices[number], part) for number, part in parts.items()},
        patience_s=patience_s,
        at_once=at_once,
    )
    done, waiting, errors = list[Result](), list[Thing](), list[Unavailable]()
    for number, result in results.items():
        if isinstance(result, Unavailable) and result.dependency == DEPENDENCY:
            errors.append(result)
            waiting += parts[number]
        elif isinstance(result, BaseException):
            raise result
        else:
            done.append(result)
    failed = [error for error in errors if not isinstance(error, TooSlow)]
    if failed and not (reads and done) and not await some_are_away(pool):
        raise failed[0]
    return Split(done, waiting, errors)


async def side_by_side(
    works: Mapping[int, Callable[[], Awaitable[Result]]],
    *,
    patience_s: float | None = PATIENCE_S,
    at_once: int = AT_ONCE,
) -> dict[int, Result | BaseException]:
    """What comes of work in several slices, or why it failed, in their order. Work that takes `patience_s` longer than
    others, or lets others wait for a hand, is cut off: it is `TooSlow`.
    """
    if len(works) == 1:
        ((number, work),) = works.items()
        return {number: await _tried(work)}
    return await _Hands(works, at_once).all_done(patience_s)


class _Hands(Generic[Result]):
    """Work that is under way, by at most `at_once` hands."""

    def __init__(self, works: Mapping[int, Callable[[], Awaitable[Result]]], at_once: int) -> None:
        self._free = asyncio.Semaphore(at_once)
        self._began: dict[int, float] = {}
        self._first_done = inf
        self._tasks = {number: asyncio.create_task(self._do(number, work)) for number, work in works.items()}
        self._late: set[int] = set()

    async def all_done(self, patience_s: float | None) -> dict[int, Result | BaseException]:
        left: set[asyncio.Task[Result | BaseException]] = set(self._tasks.values())
        try:
            while left:
                _, left = await asyncio.wait(
                    left, timeout=self._cut_off(patience_s), return_when=asyncio.FIRST_COMPLETED
                )
        finally:
            for task in left:
                task.cancel()
            if left:
                await asyncio.wait(left)
        return {number: _result(number, task) for number, task in self._tasks.items()}

    async def _do(self, number: int, work: Callable[[], Awaitable[Result]]) -> Result | BaseException:
        async with self._free:
            self._began[number] = time.monotonic()
            result = await _tried(work)
        if not isinstance(result, BaseException):  # what failed at once is no measure for the others
            self._first_done = min(self._first_done, time.monotonic())
        return result

    def _cut_off(self, patience_s: float | None) -> float | None:
        """Cuts off work that is late; returns how long the next may take."""
        if patience_s is None:
            return None
        others_wait = len(self._began) < len(self._tasks)
        if self._first_done == inf and not others_wait:
            return None
        now, rest = time.monotonic(), inf
        for number, began in self._began.items():
            if number in self._late or self._tasks[number].done():
                continue
            since = began if others_wait else max(began, self._first_done)
            if now - since >= patience_s:
                self._late.add(number)
                self._tasks[number].cancel()
            else:
                rest = min(rest, since + patience_s - now)
        if rest == inf:
            return patience_s if others_wait else None
        return rest


async def _tried(work: Callable[[], Awaitable[Result]]) -> Result | BaseException:
    try:
        return await work()
    except Exception as error:  # noqa: BLE001  # the caller is told, beside what came of others
        return error


def _result(number: int, task: "asyncio.Task[Result | BaseException]") -> Result | BaseException:
    if task.cancelled():
        return TooSlow(DEPENDENCY, f"slice {number} takes longer than others")
    return task.result()


def fetched_by(statement: Callable[[Sequence[Thing]], tuple[Any, ...]]) -> Work[Thing, Sequence[Any]]:
    """`Work` that fetches the rows of the statement for a slice's part."""

    async def fetch(slice_: Slice, part: Sequence[Thing]) -> Sequence[Any]:
        async with slice_.at() as connection:
            fetched: Sequence[Any] = await connection.fetch(*statement(part))
        return fetched

    return fetch


async def rows(pool: Pool, statement: tuple[Any, ...]) -> list[Any]:
    """The rows that all slices have. Raises `Unavailable`."""
    return list(chain.from_iterable((await _everywhere(pool, statement, None)).whole()))


async def rows_in_reach(pool: Pool, statement: tuple[Any, ...]) -> list[Any]:
    """The same without slices that are away or slow. Raises `Unavailable` when all of them are."""
    return list(chain.from_iterable((await _everywhere(pool, statement, PATIENCE_S)).in_reach()))


async def _everywhere(pool: Pool, statement: tuple[Any, ...], patience_s: float | None) -> Split[Slice, Sequence[Any]]:
    fetch = fetched_by(lambda _: statement)
    return await everywhere(pool, lambda each: fetch(each, ()), patience_s=patience_s, reads=True)
