"""Reading a ledger that may be cut: of one member, or slice after slice.

A statement for a slice is the statement for a whole ledger, and a slice may lie on another server: there it runs as a
whole, beside its rows. The views of `public`, over all slices, bring every row to the coordinator first.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from abacus.platform.postgres import Connection, Pool, slicing_of, slicing_on

Result = TypeVar("Result")


@asynccontextmanager
async def at_member(pool: Pool, member_id: str) -> AsyncIterator[Connection]:
    """A connection to the server of the member's slice: it has the slice's tables under their names, and no others."""
    slicing = await slicing_of(pool)
    async with pool.acquire(schema=slicing.home_of(member_id), near=True) as connection:
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
