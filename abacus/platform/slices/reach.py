"""The slices of a pool's ledger, and connections and transactions that reach them.

A statement for a slice is the statement for a whole ledger, and a slice may lie on another server: there it runs as a
whole, beside its rows. The views of `public`, over all slices, bring every row to the coordinator first.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from itertools import chain
from typing import Any, Final, NamedTuple, TypeVar

from abacus.core.errors import Unavailable
from abacus.core.merge import added_up
from abacus.platform.postgres import DEPENDENCY, LONG_S, Also, Connection, Pool, nothing_else, passing_failures
from abacus.platform.slices.layout import HEAD, SliceMap
from abacus.platform.slices.transaction import commit_together, stay

Result = TypeVar("Result")

_IS_THERE: Final = f"select from {HEAD}"


class Slice(NamedTuple):
    """A slice of a pool's ledger; the whole ledger, where that is not cut."""

    pool: Pool
    number: int
    schema: str | None  # of its tables; None for a whole ledger

    @asynccontextmanager
    async def at(self) -> AsyncIterator[Connection]:
        """A connection to the slice's server: it has the slice's tables under their names, and no others. Raises
        `Unavailable`.
        """
        async with passing_failures(), self.pool.acquire(schema=self.schema, near=True) as connection:
            yield connection

    @asynccontextmanager
    async def through(self) -> AsyncIterator[Connection]:
        """A connection by way of the coordinator: it has the tables that are not cut as well. Raises `Unavailable`."""
        async with passing_failures(), self.pool.acquire(schema=self.schema) as connection:
            yield connection

    @asynccontextmanager
    async def within(self) -> AsyncIterator[Connection]:
        """A transaction at the slice's server, in its own tables. Raises `Unavailable`."""
        async with self.at() as connection, connection.transaction():
            yield connection

    @asynccontextmanager
    async def across(self) -> AsyncIterator[Connection]:
        """A transaction in the slice and in tables that are not cut; servers may commit it one after the other. Raises
        `Unavailable`.
        """
        async with self.through() as connection, connection.transaction():
            yield connection

    @asynccontextmanager
    async def together(self, first: Also = nothing_else) -> AsyncIterator[Connection]:
        """A transaction over this slice, others, and what is not cut, on all servers or on none. `first` is done before
        other servers have a part in it.
        """
        async with self.across() as connection:
            await first(connection)
            await commit_together(connection)
            yield connection

    def table(self, name: str) -> str:
        """The name of its table in statements that may run in any session."""
        return name if self.schema is None else f"{self.schema}.{name}"

    @asynccontextmanager
    async def unled(self) -> AsyncIterator[Connection]:
        """A connection to the slice's server, for statements that name its schema. Postgres plans a statement anew
        after its session was led elsewhere; statements that go from slice to slice by the thousand are not led.
        """
        async with passing_failures(), (await self.server()).acquire() as connection:
            yield connection

    async def server(self) -> Pool:
        """The connections to its server. Raises `Unavailable`."""
        async with passing_failures():
            return await self.pool.nearest(self.schema)

    @property
    def is_away(self) -> bool:
        """Whether its server is known to be away."""
        return bool(self.pool.is_away(self.schema))

    async def is_there(self) -> bool:
        """Whether its server can be reached."""
        try:
            async with self.at() as connection:
                await connection.execute(_IS_THERE)
        except Unavailable:
            return False
        return True


async def slice_map_of(pool: Pool) -> SliceMap:
    """The slices of the pool's database. They are looked up once, because they never change."""
    if pool.slices is None:
        async with passing_failures(), pool.acquire() as connection:
            pool.slices = (await slice_map_on(connection)).slices
    return SliceMap(pool.slices)


async def slice_map_on(connection: Connection) -> SliceMap:
    """The slices of the connection's database."""
    count = await connection.fetchval("select count(*) from slice")
    return SliceMap(count or 1)


async def in_one_place(pool: Pool) -> bool:
    """Whether one statement may join rows of any members and what is not cut: they lie beside each other. Raises
    `Unavailable`.
    """
    return (await slice_map_of(pool)).slices == 1


async def slices_of(pool: Pool) -> Sequence[Slice]:
    """All slices, in their order. Raises `Unavailable`."""
    slice_map = await slice_map_of(pool)
    return [Slice(pool, number, slice_map.schema_of(number)) for number in range(slice_map.slices)]


async def slice_of(pool: Pool, member_id: str) -> Slice:
    """The member's slice. Raises `Unavailable`."""
    number = (await slice_map_of(pool)).slice_of(member_id)
    return (await slices_of(pool))[number]


@asynccontextmanager
async def at(pool: Pool, member_id: str) -> AsyncIterator[Connection]:
    """A connection at the member's slice: to the tables that are cut, and no others. Raises `Unavailable`."""
    async with (await slice_of(pool, member_id)).at() as connection:
        yield connection


@asynccontextmanager
async def together(
    pool: Pool, member_id: str | None = None, *, first: Also = nothing_else
) -> AsyncIterator[Connection]:
    """A transaction over several slices and what is not cut, on all servers or on none. It begins in the member's
    slice, after what comes `first`; `each` leads it to the others. Raises `Unavailable`.
    """
    begun_in = (await slices_of(pool))[0] if member_id is None else await slice_of(pool, member_id)
    async with begun_in.together(first) as connection:
        yield connection


async def each(connection: Connection, read: Callable[[], Awaitable[Result]], *, locks: bool = False) -> list[Result]:
    """The results of the same reading on this connection in each slice, in their order; one, where the ledger is not
    cut. In a transaction that is one snapshot, so is the reading of each slice. A reading that `locks` keeps each slice
    on its server.
    """
    slice_map = await slice_map_on(connection)
    before, results = connection.slice_schema, list[Result]()
    try:
        for number in range(slice_map.slices):
            await connection.lead(slice_map.schema_of(number))
            if locks:
                await stay(connection)
            results.append(await read())
    except BaseException:
        connection.is_astray()  # the server may have forgotten where it was led, with the transaction
        raise
    await connection.lead(before)
    return results


async def rows_on(connection: Connection, statement: tuple[Any, ...], *, within_s: float | None = None) -> list[Any]:
    """The rows that all slices have, read on this connection."""
    parts = await each(connection, lambda: connection.fetch(*statement, timeout=within_s))
    return list(chain.from_iterable(parts))


async def sums(
    connection: Connection, statement: tuple[Any, ...], *, facts: int, within_s: float = LONG_S
) -> list[tuple[Any, ...]]:
    """The rows of a statement that reads the whole ledger, in order: rows of several slices with the same facts become
    one, and the numbers behind the facts are added up.
    """
    return added_up(await rows_on(connection, statement, within_s=within_s), facts=facts)


async def some_are_away(pool: Pool) -> bool:
    """Whether the server of some slice cannot be reached. Raises `Unavailable` when the coordinator cannot."""
    slices = await slices_of(pool)
    if len(slices) == 1:
        return False
    async with passing_failures(), pool.acquire() as connection:
        await connection.execute("select")
    return not all(await asyncio.gather(*(each.is_there() for each in slices)))


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
