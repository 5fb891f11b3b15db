"""Reading and changing a ledger that may be cut: of one member, of one slice, or slice after slice.

A statement for a slice is the statement for a whole ledger, and a slice may lie on another server: there it runs as a
whole, beside its rows. The views of `public`, over all slices, bring every row to the coordinator first.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

from abacus.core.errors import Unavailable
from abacus.platform.postgres import DEPENDENCY, Connection, Pool, passing_failures
from abacus.platform.slices.layout import HEAD, UNCUT, Slicing

Part = TypeVar("Part")
Result = TypeVar("Result")

PATIENCE_S: Final = 2.0  # with what takes longer in one slice than in another

_IS_THERE: Final = f"select from {HEAD}"


async def slicing_of(pool: Pool) -> Slicing:
    """The slices of the pool's database. They are looked up once, because they never change."""
    if pool.slices is None:
        async with passing_failures(), pool.acquire() as connection:
            pool.slices = (await slicing_on(connection)).slices
    return Slicing(pool.slices)


async def slicing_on(connection: Connection) -> Slicing:
    """The slices of the connection's database."""
    count = await connection.fetchval("select count(*) from slice")
    return Slicing(count) if count else UNCUT


@asynccontextmanager
async def at_slice(pool: Pool, number: int) -> AsyncIterator[Connection]:
    """A connection to the server of that slice: it has the slice's tables under their names, and no others."""
    slicing = await slicing_of(pool)
    async with pool.acquire(schema=slicing.home(number), near=True) as connection:
        yield connection


@asynccontextmanager
async def at_member(pool: Pool, member_id: str) -> AsyncIterator[Connection]:
    """The same of the member's slice."""
    async with at_slice(pool, (await slicing_of(pool)).slice_of(member_id)) as connection:
        yield connection


@asynccontextmanager
async def unled(pool: Pool, schema: str | None) -> AsyncIterator[Connection]:
    """A connection to the server of the slice, for statements that name its schema. Postgres plans a statement anew
    each time that its session was led elsewhere; those that go from slice to slice by the thousand had better not.
    """
    async with (await pool.nearest(schema)).acquire() as connection:
        yield connection


@asynccontextmanager
async def beside(pool: Pool, schema: str | None, leading: Connection) -> AsyncIterator[Connection]:
    """A connection to the slice's server, for whoever leads by a lease of its session at the coordinator; where the
    slice lies there, the same connection.
    """
    near = await pool.nearest(schema)
    if near is pool:
        yield leading
        return
    async with near.acquire() as connection:
        yield connection


async def in_each_slice(connection: Connection, read: Callable[[], Awaitable[Result]]) -> list[Result]:
    """The results of the same reading on this connection in each slice, in their order; one, where the ledger is not
    cut. In a transaction that is one snapshot, so is the reading of each slice.
    """
    slicing = await slicing_on(connection)
    before, results = connection.slice_schema, list[Result]()
    try:
        for number in range(slicing.slices):
            await connection.lead(slicing.home(number))
            results.append(await read())
    except BaseException:
        connection.is_astray()  # the server may have forgotten where it was led, with the transaction
        raise
    await connection.lead(before)
    return results


async def side_by_side(
    works: Mapping[int, Coroutine[Any, Any, Result]], *, patience_s: float | None = PATIENCE_S
) -> dict[int, Result | BaseException]:
    """What comes of work in several slices, or why it failed, in their order. Work that takes so much longer than the
    first that was done is cut off with `Unavailable`: what it did, if anything, is found when it comes again.
    """
    tasks = {number: asyncio.create_task(work) for number, work in works.items()}
    left, done = set(tasks.values()), set[asyncio.Task[Result]]()
    try:
        while left and not any(map(_succeeded, done)):
            done, left = await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
        if left:
            _, left = await asyncio.wait(left, timeout=patience_s)
    finally:
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left)
    return {number: _result(number, task) for number, task in tasks.items()}


def _succeeded(task: asyncio.Task[Any]) -> bool:
    return not task.cancelled() and task.exception() is None


def _result(number: int, task: asyncio.Task[Result]) -> Result | BaseException:
    if task.cancelled():
        return Unavailable(DEPENDENCY, f"slice {number} takes longer than others")
    error = task.exception()
    return task.result() if error is None else error


async def rows_in(pool: Pool, parts: Mapping[int, Part], statement: Callable[[Part], tuple[Any, ...]]) -> list[Any]:
    """The rows that the slices have, each asked for its part at its server. Raises `Unavailable`."""
    reads = {number: _rows_at(pool, number, statement(part)) for number, part in parts.items()}
    rows = list[Any]()
    for read in (await side_by_side(reads, patience_s=None)).values():
        if isinstance(read, BaseException):
            raise read
        rows += read
    return rows


async def _rows_at(pool: Pool, number: int, statement: tuple[Any, ...]) -> Sequence[Any]:
    async with passing_failures(), at_slice(pool, number) as connection:
        rows: Sequence[Any] = await connection.fetch(*statement)
    return rows


async def in_reach(
    parts: Mapping[int, Part], read: Callable[[int, Part], Coroutine[Any, Any, Sequence[Result]]]
) -> list[Result]:
    """What is read of the slices' parts, without slices whose servers cannot be reached, or take long. Raises
    `Unavailable` when none of them can.
    """
    results, away = list[Result](), list[Unavailable]()
    for each in (await side_by_side({number: read(number, part) for number, part in parts.items()})).values():
        if isinstance(each, Unavailable):
            away.append(each)
        elif isinstance(each, BaseException):
            raise each
        else:
            results += each
    if away and len(away) == len(parts):
        raise away[0]
    return results


async def unless_away(pool: Pool, work: Awaitable[Result]) -> Result | None:
    """What comes of work in one slice; None when it failed while the server of some slice is away: others can go on,
    and this part comes later. Raises `Unavailable` when it failed for another reason, or the coordinator is away.
    """
    try:
        return await work
    except Unavailable as error:
        if error.dependency != DEPENDENCY or not await some_are_away(pool):
            raise
        return None


async def some_are_away(pool: Pool) -> bool:
    """Whether the server of some slice cannot be reached. Raises `Unavailable` when the coordinator cannot."""
    slicing = await slicing_of(pool)
    if not slicing.is_cut:
        return False
    async with passing_failures(), pool.acquire() as connection:
        await connection.execute("select")
    return not all(await asyncio.gather(*(is_there(pool, number) for number in range(slicing.slices))))


async def is_there(pool: Pool, number: int) -> bool:
    """Whether the server of that slice can be reached."""
    try:
        async with passing_failures(), at_slice(pool, number) as connection:
            await connection.execute(_IS_THERE)
    except Unavailable:
        return False
    return True


async def rows_in_reach(
    pool: Pool, parts: Mapping[int, Part], statement: Callable[[Part], tuple[Any, ...]]
) -> list[Any]:
    """The rows of those slices whose servers can be reached. Raises `Unavailable` when none of them can."""
    return await in_reach(parts, lambda number, part: rows_in(pool, {number: part}, statement))


async def rows_in_all(pool: Pool, statement: tuple[Any, ...]) -> list[Any]:
    """The rows that all slices have. Raises `Unavailable`."""
    slicing = await slicing_of(pool)
    return await rows_in(pool, dict.fromkeys(range(slicing.slices)), lambda _: statement)


async def all_rows_in_reach(pool: Pool, statement: tuple[Any, ...]) -> list[Any]:
    """The same of those slices whose servers can be reached. Raises `Unavailable` when none of them can."""
    slicing = await slicing_of(pool)
    return await rows_in_reach(pool, dict.fromkeys(range(slicing.slices)), lambda _: statement)
