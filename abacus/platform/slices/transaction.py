"""What a transaction over several servers does beside its work. On one server it is nothing."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from abacus.platform.postgres import Connection
from abacus.platform.slices.layout import HEAD

# A change of no row. For a transaction that has changed something in a slice, Citus does not move that slice.
_STAY: Final = f"update {HEAD} set one = one where not one"

# By its key: connections here avoid scans. It holds the slice to its server, as `stay` does, in the same statement.
_TAKE_TURN: Final = f"""
with staying as ({_STAY}) select one from {HEAD} where one for update
"""


@asynccontextmanager
async def in_place(connection: Connection) -> AsyncIterator[None]:
    """A transaction in one slice, which stays on its server until the transaction ends."""
    async with connection.transaction():
        await stay(connection)
        yield


async def locked(connection: Connection, *statement: Any) -> Sequence[Any]:
    """The rows of a statement that locks them. Their slice stays on its server until the transaction ends."""
    await stay(connection)
    rows: Sequence[Any] = await connection.fetch(*statement)
    return rows


async def take_turn(connection: Connection) -> None:
    """Wait until other writers of the slice have ended, and make the next ones wait: they commit in their order. The
    slice stays on its server.
    """
    if not await connection.fetchval(_TAKE_TURN):
        raise AssertionError(f"{connection.slice_schema}.{HEAD} has no row, so nobody would wait for another")


async def stay(connection: Connection) -> None:
    """Keep the slice on its server until the transaction ends. Citus would move it between the statements of one that
    has changed nothing yet: locks that were taken there would then hold nobody back, and rows have other addresses.
    """
    if connection.slice_schema is not None:
        await connection.execute(_STAY)


async def commit_together(connection: Connection) -> None:
    """From here on the transaction ends on all servers alike, also if one of them fails just then: it is prepared on
    each, and committed once all have it. Citus does that for a transaction that copied rows to a slice, though there
    were none; for changes of one slice beside tables that are not cut it would commit one after the other.
    """
    if connection.slice_schema is not None:
        await connection.copy_records_to_table("claim", records=[])
