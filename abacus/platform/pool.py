"""Pools whose connections are led to a slice, and go straight to the server that has it.

On Citus a slice lies on one of several servers, and each of them answers for all: it passes on what it does not have.
So a slice that has moved is read and written as before, by a detour, until its new address is looked up. What is down
with a server are the slices there.
"""

import asyncio
import time
from collections.abc import Generator, Mapping
from typing import Any, Final, NamedTuple

import asyncpg

from abacus.platform.slicing import Slicing

_LOOK_EVERY_S: Final = 5.0
_AWAY_S: Final = 10.0  # for so long nobody tries again to reach a server that did not let us in

_IS_SPREAD: Final = "select to_regclass('pg_catalog.pg_dist_schema') is not null"
_ADDRESSES: Final = """
select distinct d.schemaid::regnamespace::text as schema, n.nodename as host, n.nodeport as port
from pg_dist_schema d
join pg_dist_partition p on p.colocationid = d.colocationid
join pg_dist_shard s on s.logicalrelid = p.logicalrelid
join pg_dist_placement a on a.shardid = s.shardid
join pg_dist_node n on n.groupid = a.groupid and n.noderole = 'primary'
"""


class Address(NamedTuple):
    """A server of the cluster."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


async def addresses(connection: "asyncpg.Connection") -> Mapping[str, Address]:
    """The server of each slice's schema; empty where all lie on one."""
    if not await connection.fetchval(_IS_SPREAD):
        return {}
    return {schema: Address(host, port) for schema, host, port in await connection.fetch(_ADDRESSES)}


class LedConnection(asyncpg.Connection):  # type: ignore[misc]  # asyncpg has no types
    """Knows the slice that its session was led to: the tables of that schema come before those of `public`."""

    _led_to: str | None = None
    _is_astray = False

    @property
    def slice_schema(self) -> str | None:
        """The slice whose tables it has under their names."""
        return self._led_to

    async def lead(self, schema: str | None) -> None:
        """None leads it back to where it began."""
        if schema == self._led_to and not self._is_astray:
            return
        self._is_astray = True  # until the server has said that it is there
        await self.execute("reset search_path" if schema is None else f"set search_path = {schema}, public")
        self._led_to, self._is_astray = schema, False

    def is_astray(self) -> None:
        """Whoever uses it next is led anew, whatever it was led to before."""
        self._is_astray = True

    async def reset(self, *, timeout: float | None = None) -> None:  # noqa: ASYNC109  # as asyncpg has it
        await super().reset(timeout=timeout)
        self._led_to, self._is_astray = None, False


class _Acquiring:
    """A connection of a pool, to be entered or awaited."""

    __slots__ = ("_connection", "_near", "_pool", "_schema", "_within_s")

    def __init__(self, pool: "SlicedPool", within_s: float | None, schema: str | None, *, near: bool) -> None:
        self._pool = pool
        self._within_s = within_s
        self._schema = schema
        self._near = near

    async def __aenter__(self) -> LedConnection:
        if self._near:
            self._pool = await self._pool.nearest(self._schema)
        self._connection = await self._pool.led(self._schema, self._within_s)
        return self._connection

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """That a connection which was cut cannot be given back must not stand in for why the block ended: a task that
        is cancelled would go on.
        """
        try:
            await self._pool.release(self._connection)
        except Exception:
            if kind is None:
                raise

    def __await__(self) -> Generator[Any, None, LedConnection]:
        return self._pool.led(self._schema, self._within_s).__await__()


class SlicedPool(asyncpg.Pool):  # type: ignore[misc]  # as above
    """Limits to `within_s` the wait for a connection, and the return of one whose server has gone silent: asyncpg takes
    one limit for both.
    """

    def __init__(self, *addresses: str, within_s: float | None = None, **options: Any) -> None:
        super().__init__(*addresses, **options)
        self.within_s = within_s
        self.slicing: Slicing | None = None
        self._made_of = (addresses, options)
        self._looking = asyncio.Lock()
        self._looked_at: float | None = None
        self._addresses: Mapping[str, Address] = {}
        self._others: dict[Address, SlicedPool] = {}
        self._address: Address | None = None  # of a server that was looked up
        self._away_until = 0.0

    def acquire(self, *, timeout: float | None = None, schema: str | None = None, near: bool = False) -> Any:
        """A connection to the tables of that slice; to those of `public` without a schema. One that is `near` is to the
        server that has the slice, and has no other tables; it can only be entered, and not awaited.
        """
        return _Acquiring(self, self.within_s if timeout is None else timeout, schema, near=near)

    async def led(self, schema: str | None, within_s: float | None) -> LedConnection:
        """Leads a connection before it is used, also back from where another user led it."""
        connection = await self._let_in(within_s)
        try:
            await connection.lead(schema)
        except BaseException:
            await self.release(connection)
            raise
        return connection

    async def _let_in(self, within_s: float | None) -> LedConnection:
        """A server that is silent keeps one in so many waiting, and not all of them."""
        if self._address is None:
            return await super().acquire(timeout=within_s)  # type: ignore[no-any-return]  # as above
        if time.monotonic() < self._away_until:
            raise ConnectionError(f"{self._address} let nobody in a moment ago")
        try:
            return await super().acquire(timeout=within_s)  # type: ignore[no-any-return]  # as above
        except OSError as error:
            if within_s is None:  # otherwise the wait may have been for others who use the pool
                self._away_until = time.monotonic() + _AWAY_S
            raise ConnectionError(f"{self._address} let nobody in: {str(error) or type(error).__name__}") from error

    async def nearest(self, schema: str | None) -> "SlicedPool":
        """The pool of the server that has this slice; this one without a schema. While somebody looks where slices are
        now, others go where they were: the coordinator may be silent.
        """
        if schema is None:
            return self
        known = self._others.get(self._addresses[schema]) if schema in self._addresses else None
        if known is not None and self._looking.locked():
            return known
        async with self._looking:
            if self._looked_at is None or time.monotonic() - self._looked_at > _LOOK_EVERY_S:
                await self._look()
            address = self._addresses.get(schema)
            if address is None:
                return self
            if address not in self._others:
                self._others[address] = await self._beside(address)
            return self._others[address]

    async def _look(self) -> None:
        """While the coordinator is away slices stay where they are. When who looks leaves before it has answered, the
        next one does not look at once.
        """
        if self._addresses:
            self._looked_at = time.monotonic()
        try:
            async with self.acquire() as connection:
                self._addresses = await addresses(connection)
        except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
            if not self._addresses:
                raise
        self._looked_at = time.monotonic()

    def look_anew(self) -> None:
        """Look the servers up before the next use: for work that a detour would not serve."""
        self._looked_at, self._addresses = None, {}

    async def _beside(self, address: Address) -> "SlicedPool":
        first, options = self._made_of
        there = {"host": address.host, "port": address.port, "min_size": 0}
        beside: SlicedPool = await SlicedPool(*first, within_s=self.within_s, **{**options, **there})
        beside._address = address  # of our own class
        return beside

    async def close(self) -> None:
        await asyncio.gather(*(each.close() for each in self._others.values()))
        await super().close()

    def terminate(self) -> None:
        for each in self._others.values():
            each.terminate()
        super().terminate()
