"""What a transaction over several servers does beside its work. On one server it is nothing."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from abacus.platform.postgres import Connection
from abacus.platform.slices.layout import HEAD

# A change of no row. For a transaction that has changed something in a slice, Citus does not move that slice.
STAY: Final = f"update {HEAD} set one = one where not one"


@asynccontextmanager
async def in_place(connection: Connection) -> AsyncIterator[None]:
    """A transaction in one slice, which stays on its server until the transaction ends."""
    async with connection.transaction():
        await stay(connection)
        yield


async def stay(connection: Connection) -> None:
    """Keep the slice on its server until the transaction ends. Citus would move it between the statements of one that
    has changed nothing yet: locks that were taken there would then hold nobody back, and rows have other addresses.
    """
    if connection.slice_schema is not None:
        await connection.execute(STAY)


async def commit_together(connection: Connection) -> None:
    """From here on the transaction ends on all servers alike, also if one of them fails just then: it is prepared on
    each, and committed once all have it. Citus does that for a transaction that copied rows to a slice, though there
    were none; for changes of one slice beside tables that are not cut it would commit one after the other.
    """
    if connection.slice_schema is not None:
        await connection.copy_records_to_table("claim", records=[])
