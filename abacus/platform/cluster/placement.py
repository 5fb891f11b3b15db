"""Slices of a ledger on several servers, with Citus: which server has which, and moving one to another.

Citus knows a slice's schema as one unit. Nothing here is about members or points: the rows of a slice lie together, and
docs/adr/0061 says what each transaction needs.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final, NamedTuple

import asyncpg

from abacus.core.errors import Refused
from abacus.platform.cluster import servers
from abacus.platform.pool.citus_errors import is_on_its_way, passes, place_of
from abacus.platform.pool.sliced_pool import Address, addresses
from abacus.platform.postgres import LONG_S, Connection, is_passing, open_pool, passing_failures
from abacus.platform.slices import slice_map_on
from abacus.platform.sql import Statement

_TIMES: Final = 5  # that a move is tried, while something else is done to the slice
_AGAIN_S: Final = 1.0

_HAS_CITUS: Final = "select exists(select from pg_extension where extname = 'citus')"
_SERVERS: Final = """
select nodename, nodeport from pg_dist_node
where noderole = 'primary' and isactive and shouldhaveshards order by nodename, nodeport
"""
_PLACE: Final = Statement("select citus_schema_distribute(:schema::text::regnamespace)")
# The mode is a literal: to name its type would take a right to the schema that has it.
_MOVE: Final = """
select citus_schema_move(:schema::text::regnamespace, :host::text, :port::int, '{mode}')
"""
_MOVE_AS_IT_IS_POSTED_TO: Final = Statement(_MOVE.format(mode="force_logical"))
_MOVE_WHILE_WRITERS_WAIT: Final = Statement(_MOVE.format(mode="block_writes"))
_SIZES: Final = """
select n.nspname::text as schema, sum(c.shard_size)::bigint as size
from citus_shards c join pg_class t on t.oid = c.table_name join pg_namespace n on n.oid = t.relnamespace
group by n.nspname
"""
_COPIED: Final = """
select coalesce(sum(least(target_shard_size, source_shard_size)), 0)::bigint as copied,
    coalesce(sum(source_shard_size), 0)::bigint as total
from get_rebalance_progress()
"""

_SHARDS: Final = Statement("""
select n.name, shard_name(s.logicalrelid, s.shardid) as shard
from unnest(:names::text[]) as n (name) join pg_dist_shard s on s.logicalrelid = n.name::regclass
""")


class Placed(NamedTuple):
    """A slice, the server that has it, and its bytes there; None where the server does not answer."""

    schema: str
    address: Address
    size: int | None


class Move(NamedTuple):
    """A slice that goes from one server to another."""

    schema: str
    source: Address
    target: Address


def evened(where: Mapping[str, Address], servers: Sequence[Address]) -> list[Move]:
    """The fewest moves after which no server has two slices more than another, and other servers have none. Pure."""
    held = {server: [schema for schema, address in where.items() if address == server] for server in servers}
    fair = len(where) // max(1, len(servers))
    spare = [schema for schema, address in where.items() if address not in held]
    # Those who have most keep one more than their share, while there are any to spare.
    more = len(where) - fair * len(servers)
    for server in sorted(servers, key=lambda each: -len(held[each])):
        keeps = fair + (more > 0)
        more -= 1
        spare += held[server][keeps:]
        held[server] = held[server][:keeps]
    moves: list[Move] = []
    for schema in spare:
        target = min(servers, key=lambda server: len(held[server]))
        held[target].append(schema)
        moves.append(Move(schema, where[schema], target))
    return moves


class SlicePlacement:
    """On the coordinator, as the tables' owner. Every method raises `Unavailable`."""

    def __init__(self, connection: Connection, *, again_s: float = _AGAIN_S) -> None:
        self._connection = connection
        self._again_s = again_s

    async def prepare(self) -> None:
        """Give the servers what slices need, also before the first migration. Raises `Refused`, and `Unprepared` for
        what an administrator has to do.
        """
        await servers.prepare(self._connection)

    async def place(self, told: Callable[[int, int], None] | None = None) -> list[str]:
        """Place the slices that are not placed yet on the servers of Citus; returns their schemas. Rows go with them.
        How many of how many are placed is told.

        Each is placed by itself: a run after an interrupted one goes on where that stopped. Raises `Refused` for a
        ledger that is not cut, and where the servers lack what `prepare` gives them.
        """
        await self.prepare()
        slice_map = await slice_map_on(self._connection)
        if slice_map.slices == 1:
            raise Refused("this ledger is not cut; --slices says into how many slices (docs/operate/slices.md)")
        # The triggers look at nothing but the row and the session, so they may fire on every server.
        await self._connection.execute("set citus.enable_unsafe_triggers = on")
        placed = await addresses(self._connection)
        ahead = [schema for schema in slice_map.schemas if schema not in placed]
        for done, schema in enumerate(ahead, 1 + slice_map.slices - len(ahead)):
            await self._connection.execute(*_PLACE(schema=schema), timeout=LONG_S)
            if told is not None:
                told(done, slice_map.slices)
        return ahead

    async def placed(self) -> list[Placed]:
        """The slices in their order. Raises `Refused` where they are not placed on servers."""
        where = await self._where()
        sizes = {row["schema"]: row["size"] for row in await self._connection.fetch(_SIZES)}
        return [
            Placed(schema, where[schema], sizes.get(schema))
            for schema in (await slice_map_on(self._connection)).schemas
            if schema in where
        ]

    async def are_cut(self) -> bool:
        """Whether the ledger has slices at all."""
        return (await slice_map_on(self._connection)).slices > 1

    async def servers(self) -> list[Address]:
        """The servers that take slices."""
        return [Address(*row) for row in await self._connection.fetch(_SERVERS)]

    async def evened(self) -> list[Move]:
        """The moves that spread the slices evenly over the servers that take any."""
        return evened(await self._where(), await self.servers())

    async def prepare_moves(self) -> None:
        """See that slices can be moved from here. Raises `Unprepared` for what an administrator has to do."""
        await servers.prepare_moves(self._connection)

    async def move(self, schema: str, target: Address, *, blocking: bool = False) -> None:
        """Move a slice while it is posted to. Its rows are copied first; at the end its writers wait for a moment, or
        from the beginning where `blocking`. Raises `Refused` when Citus does not do it, also when another move of the
        slice is under way; a table that is made in it is waited for.
        """
        moving = _MOVE_WHILE_WRITERS_WAIT if blocking else _MOVE_AS_IT_IS_POSTED_TO
        statement = moving(schema=schema, host=target.host, port=target.port)
        for left in reversed(range(_TIMES)):
            try:
                await self._connection.execute(*statement, timeout=24 * LONG_S)
            except asyncpg.PostgresError as error:
                if is_on_its_way(error):
                    if left:
                        await asyncio.sleep(self._again_s)
                        continue
                elif is_passing(error) and not passes(error):
                    raise
                raise Refused(f"{schema} was not moved: {' '.join(str(error).split())}{place_of(error)}") from error
            else:
                return

    async def copied(self) -> tuple[int, int]:
        """How many bytes of the moves under way are copied, and how many there are."""
        row = await self._connection.fetchrow(_COPIED)
        return row["copied"], row["total"]

    async def _where(self) -> Mapping[str, Address]:
        where = await addresses(self._connection)
        if not where:
            raise Refused(
                "the slices lie on one server; `abacus migrate --citus` places them on several (docs/operate/slices.md)"
            )
        return where


async def having_rows(connection: Connection, tables: Sequence[str]) -> dict[str, str]:
    """The names of a slice's tables that have the rows themselves, on its server: Citus gives the name of each to a
    table without rows, which leads to them, and hides the others. In a transaction that is led to the slice.
    """
    names = dict(zip(tables, tables, strict=True))
    if await connection.fetchval(_HAS_CITUS):
        await connection.execute("set local citus.override_table_visibility = off")
        names |= {row["name"]: row["shard"] for row in await connection.fetch(*_SHARDS(names=tables))}
    return names


@asynccontextmanager
async def placement_at(database_url: str) -> AsyncIterator[SlicePlacement]:
    """For as long as it is needed."""
    pool = await open_pool(database_url, size=1, role=None)
    try:
        async with passing_failures(), pool.acquire() as connection:
            yield SlicePlacement(connection)
    finally:
        await pool.close()
