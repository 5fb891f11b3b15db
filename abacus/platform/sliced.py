"""Reading and changing a ledger that may be cut: of one member, of one slice, or slice after slice.

A statement for a slice is the statement for a whole ledger, and a slice may lie on another server: there it runs as a
whole, beside its rows. The views of `public`, over all slices, bring every row to the coordinator first.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

from abacus.core.errors import Unavailable
from abacus.platform.postgres import DEPENDENCY, Connection, Pool, passing_failures, slicing_of, slicing_on
from abacus.platform.slicing import HEAD

Part = TypeVar("Part")
Result = TypeVar("Result")

_IS_THERE: Final = f"select from {HEAD}"
_STAY: Final = f"update {HEAD} set one = one where not one"


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


async def stay(connection: Connection) -> None:
    """Keep the slice on its server until the transaction ends. Citus would move it between the statements of one that
    has changed nothing yet: locks that were taken there would then hold nobody back.
    """
    if connection.slice_schema is not None:
        await connection.execute(_STAY)


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


async def rows_in(pool: Pool, parts: Mapping[int, Part], statement: Callable[[Part], tuple[Any, ...]]) -> list[Any]:
    """The rows that the slices have, each asked for its part at its server. Raises `Unavailable`."""
    rows = list[Any]()
    async with passing_failures():
        for number, part in parts.items():
            async with at_slice(pool, number) as connection:
                rows += await connection.fetch(*statement(part))
    return rows


async def in_reach(parts: Mapping[int, Part], read: Callable[[int, Part], Awaitable[Sequence[Result]]]) -> list[Result]:
    """What is read of the slices' parts, without slices whose servers cannot be reached. Raises `Unavailable` when none
    of them can.
    """
    results, away = list[Result](), list[Unavailable]()
    for number, part in parts.items():
        try:
            results += await read(number, part)
        except Unavailable as error:
            away.append(error)
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
    for number in range(slicing.slices):
        if not await is_there(pool, number):
            return True
    return False


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
