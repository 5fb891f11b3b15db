"""The connections that see one moment of the ledger: of each slice, and of everything that is not cut.

On one server that is one snapshot. On several there is none for all, and each server's is taken by itself: what is
compared lies in one slice, and is committed there at once.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final, NamedTuple

from abacus.platform.postgres import Connection, Pool, passing_failures
from abacus.platform.slices import Slicing, slicing_of

_EXPORT: Final = "select pg_export_snapshot()"

_HOME: Final = ""  # the server with everything that is not cut


class Sight(NamedTuple):
    """`servers` has the connection to each server that has slices, by slice; `snapshots` names what each sees."""

    slicing: Slicing
    shared: Connection
    servers: Sequence[Connection]
    snapshots: Mapping[str, str]

    async def ledger(self, number: int) -> Connection:
        """The connection with the tables of that slice; until another slice is asked for, where one server has both."""
        connection = self.servers[number]
        if self.slicing.is_cut:
            await connection.lead(self.slicing.home(number))
        return connection


def at_once(slicing: Slicing, connection: Connection) -> Sight:
    """One connection to everything, within the caller's transaction."""
    return Sight(slicing, connection, [connection] * slicing.slices, {})


@asynccontextmanager
async def one_moment(pool: Pool, seen: Mapping[str, str] | None = None) -> AsyncIterator[Sight]:
    """Read-only transactions that see one moment; that of another process, if its snapshots are given.

    Raises `Unavailable`.
    """
    slicing = await slicing_of(pool)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(passing_failures())
        pool.look_anew()  # rows are looked for under names that only their server knows
        near = {schema: await pool.nearest(schema) for schema in slicing.schemas} if slicing.is_cut else {}
        opened: dict[Pool, Connection] = {}
        snapshots: dict[str, str] = {}
        for schema, server in near.items():
            if server not in opened:
                opened[server] = await _begun(stack, server)
                snapshots[schema] = await _seeing(opened[server], seen[schema] if seen else None)
        if pool not in opened:
            opened[pool] = await _begun(stack, pool)
            snapshots[_HOME] = await _seeing(opened[pool], seen[_HOME] if seen else None)
        shared = opened[pool]
        servers = [opened[near[schema]] for schema in slicing.schemas] if slicing.is_cut else [shared]
        try:
            yield Sight(slicing, shared, servers, snapshots)
        finally:
            for each in opened.values():
                each.is_astray()


async def _begun(stack: AsyncExitStack, pool: Pool) -> Connection:
    connection = await stack.enter_async_context(pool.acquire())
    await stack.enter_async_context(connection.transaction(isolation="repeatable_read", readonly=True))
    return connection


async def _seeing(connection: Connection, snapshot: str | None) -> str:
    if snapshot is None:
        return str(await connection.fetchval(_EXPORT))
    await connection.execute(f"set transaction snapshot '{snapshot}'")
    return snapshot
