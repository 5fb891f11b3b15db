"""The connections that see one moment of the ledger: of each slice, and of everything that is not cut.

On one server that is one snapshot. On several there is none for all, and each server's is taken by itself: what is
compared lies in one slice, and is committed there at once.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final, Generic, NamedTuple, TypeVar

from abacus.platform.postgres import Connection, Pool, pages, passing_failures
from abacus.platform.slices import slices_of

_EXPORT: Final = "select pg_export_snapshot()"

_SHARED: Final = ""  # the server with everything that is not cut


class SeenSlice(NamedTuple):
    """The connection to a slice's server, and the schema that it is led to; None for a whole ledger."""

    connection: Connection
    schema: str | None


class Sight(NamedTuple):
    """`slices` are in their order; `snapshots` names what each server sees."""

    shared: Connection
    slices: Sequence[SeenSlice]
    snapshots: Mapping[str, str]

    @property
    def numbers(self) -> range:
        """The numbers of all slices."""
        return range(len(self.slices))

    async def ledger(self, number: int) -> Connection:
        """The connection with the tables of that slice; until another slice is asked for, where one server has both."""
        connection, schema = self.slices[number]
        await connection.lead(schema)
        return connection


def at_once(connection: Connection) -> Sight:
    """The one slice that the connection is led to, within the caller's transaction."""
    return Sight(connection, [SeenSlice(connection, connection.slice_schema)], {})


@asynccontextmanager
async def one_moment(pool: Pool, seen: Mapping[str, str] | None = None) -> AsyncIterator[Sight]:
    """Read-only transactions that see one moment; that of another process, if its snapshots are given.

    Raises `Unavailable`.
    """
    slices = await slices_of(pool)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(passing_failures())
        pool.look_anew()  # rows are looked for under names that only their server knows
        servers = [(each.schema, await each.server()) for each in slices]
        opened: dict[Pool, Connection] = {}
        snapshots: dict[str, str] = {}
        for schema, server in (*servers, (None, pool)):
            if server not in opened:
                opened[server], name = await _begun(stack, server), schema or _SHARED
                snapshots[name] = await _seeing(opened[server], seen[name] if seen else None)
        try:
            yield Sight(opened[pool], [SeenSlice(opened[server], schema) for schema, server in servers], snapshots)
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


Row = TypeVar("Row", bound=tuple[Any, ...])


class Pager(Generic[Row]):
    """For following one query beside another. In a transaction."""

    def __init__(self, row_type: type[Row], connection: Connection, query: str, *parameters: object) -> None:
        self._make = row_type._make  # type: ignore[attr-defined]  # no type says "a named tuple"
        self._pages: AsyncIterator[Sequence[Any]] = pages(connection, query, *parameters)
        self._page: list[Row] = []  # the next one last

    async def peek(self) -> Row | None:
        """The next row, which stays the next one; None after the last."""
        if not self._page:
            page = await anext(self._pages, None)  # never a tuple: as its default, one ends in an error of Python's
            self._page = [self._make(row) for row in reversed(page or [])]
        return self._page[-1] if self._page else None

    async def take(self) -> Row | None:
        """The next row; None after the last."""
        row = await self.peek()
        if row is not None:
            self._page.pop()
        return row
