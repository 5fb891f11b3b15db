"""Pools whose connections are led to a slice, and go straight to the server that has it.

On Citus a slice lies on one of several servers, and each of them answers for all: it passes on what it does not have.
So a slice that has moved is read and written as before, by a detour, until its new address is looked up. What is down
with a server are the slices there.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qs, urlsplit
from weakref import WeakSet

import asyncpg

from abacus.core.errors import RightMissing
from abacus.platform.pool.led_connection import LedConnection, Session
from abacus.platform.pool.silence import SILENT_AFTER_S, Watch, asked
from abacus.platform.roles import APPLICATION_ROLE

CONNECTED_WITHIN_S: Final = 5.0  # to a server that has slices

LOOK_EVERY_S: Final = 5.0  # where slices are

_IS_SPREAD: Final = "select to_regclass('pg_catalog.pg_dist_schema') is not null"
_ADDRESSES: Final = """
select distinct d.schemaid::regnamespace::text as schema, n.nodename as host, n.nodeport as port
from pg_dist_schema d
join pg_dist_partition p on p.colocationid = d.colocationid
join pg_dist_shard s on s.logicalrelid = p.logicalrelid
join pg_dist_placement a on a.shardid = s.shardid
join pg_dist_node n on n.groupid = a.groupid and n.noderole = 'primary'
"""


class Noted(NamedTuple):
    """Whom a pool tells of its servers."""

    connections: Callable[[str, int], None]
    away: Callable[[str, int], None]


NOTHING_NOTED: Final = Noted(lambda _server, _more: None, lambda _server, _more: None)


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


def server_of(database_url: str) -> str:
    """The host, or the folder of its socket, and the port."""
    parts = urlsplit(database_url)
    host = parts.hostname or parse_qs(parts.query).get("host", ["localhost"])[0]
    return f"{host}:{parts.port or 5432}"


class SlicedPool(asyncpg.Pool):  # type: ignore[misc]  # as above
    """Limits to `within_s` the wait for a connection, and the return of one whose server has gone silent: asyncpg takes
    one limit for both.

    It holds at most `beside` connections to each server that has slices, and nobody waits for one of these that is
    silent. `noted` is told of each connection that is opened, and that ended, and its server; and of servers that are
    away, and back. Where slices are is looked up every `look_every_s`.
    """

    def __init__(
        self,
        *addresses: str,
        within_s: float | None = None,
        beside: int | None = None,
        noted: Noted = NOTHING_NOTED,
        look_every_s: float = LOOK_EVERY_S,
        **options: Any,
    ) -> None:
        super().__init__(*addresses, connect=self._opened, **options)
        self.within_s = within_s
        self.slices: int | None = None  # how many the database has, once somebody has looked
        self._made_of = (addresses, options)
        self._beside_most = beside or options["max_size"]
        self._noted = noted
        self._look_every_s = look_every_s
        self.server = server_of(addresses[0])
        self._looking = asyncio.Lock()
        self._looked_at: float | None = None
        self._addresses: Mapping[str, Address] = {}
        self._others: dict[Address, SlicedPool] = {}
        self.watch: Watch | None = None  # of a server that was looked up
        self._open: WeakSet[LedConnection] = WeakSet()
        self._openings = set[asyncio.Timeout]()

    @asynccontextmanager
    async def acquire(
        self,
        *,
        timeout: float | None = None,  # noqa: ASYNC109  # as asyncpg has it
        schema: str | None = None,
        near: bool = False,
    ) -> AsyncIterator[Any]:
        """A connection to the tables of that slice; to those of `public` without a schema. One that is `near` is to the
        server that has the slice, and has no other tables.
        """
        pool = await self.nearest(schema) if near else self
        connection = await pool.led(schema, self.within_s if timeout is None else timeout)
        try:
            yield connection
        except BaseException:
            # That a connection which was cut cannot be given back must not stand in for why the block ended: a task
            # that is cancelled would go on.
            with suppress(Exception):
                await pool.release(connection)
            raise
        await pool.release(connection)

    async def led(self, schema: str | None, within_s: float | None) -> Session:
        """Leads a connection before it is used, also back from where another user led it."""
        for watch in self._watches((schema,)):
            watch.refuse()
        connection = Session(await super().acquire(timeout=within_s))
        try:
            connection.begin(self.watch, self._watches)
            await connection.lead(schema)
        except BaseException:
            await self.release(connection)
            raise
        return connection

    async def release(self, connection: Any, **options: Any) -> None:
        await super().release(connection.held if isinstance(connection, Session) else connection, **options)

    def is_away(self, schema: str | None) -> bool:
        """Whether the server of that slice is known to be away."""
        return any(watch.is_away for watch in self._watches((schema,)))

    @property
    def idle(self) -> int:
        """Connections that nobody uses, to all servers."""
        own: int = self.get_idle_size()
        return own + sum(each.idle for each in self._others.values())

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
            if self._looked_at is None or time.monotonic() - self._looked_at > self._look_every_s:
                await self._look()
            address = self._addresses.get(schema)
            if address is None:
                return self
            if address not in self._others:
                self._others[address] = await self._made_beside(address)
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

    async def _made_beside(self, address: Address) -> "SlicedPool":
        first, options = self._made_of
        there = {"host": address.host, "port": address.port, "min_size": 0, "timeout": CONNECTED_WITHIN_S}
        there["max_size"] = min(options["max_size"], self._beside_most)
        if "role" in (session := options.get("server_settings") or {}):  # slices have rows of members alone
            there["server_settings"] = {**session, "role": APPLICATION_ROLE}
        beside = SlicedPool(*first, within_s=self.within_s, noted=self._noted, **{**options, **there})
        beside._is_of(address)  # of our own class
        return await beside  # type: ignore[no-any-return]  # as above

    def _is_of(self, address: Address) -> None:
        """A server of the cluster: it is watched."""
        self.server = str(address)
        away = partial(self._noted.away, self.server)
        self.watch = Watch(self.server, self._ask, self._cut, noted=away)

    def _watches(self, schemas: Iterable[str | None]) -> list[Watch]:
        """Of the servers that have these slices, as far as anything went there."""
        if self.watch is not None:
            return [self.watch]
        if not self._others:
            return []
        servers = {self._addresses[schema] for schema in schemas if schema is not None and schema in self._addresses}
        return [watch for each in servers if each in self._others and (watch := self._others[each].watch)]

    async def _opened(self, *arguments: Any, **options: Any) -> LedConnection:
        """A session. Nobody waits for its opening while the server is away."""
        self._session = partial(asyncpg.connect, *arguments, **options)
        if self.watch is None:
            return self._counted(await self._session())
        self.watch.refuse()
        wondering = asyncio.get_running_loop().call_later(SILENT_AFTER_S, self.watch.wonder)
        opening = asyncio.timeout(None)
        self._openings.add(opening)
        try:
            async with opening:
                return self._counted(await self._session())
        except asyncpg.InsufficientPrivilegeError as error:
            raise RightMissing(f"{self.server} says: {error}; run `grant` there (docs/operate/slices.md)") from error
        except (OSError, TimeoutError) as error:
            self.watch.wonder()
            raise ConnectionError(f"{self.server} let nobody in: {str(error) or type(error).__name__}") from error
        finally:
            self._openings.discard(opening)
            wondering.cancel()

    def _counted(self, connection: LedConnection) -> LedConnection:
        connection.begin(self.watch, self._watches)
        self._noted.connections(self.server, 1)
        connection.add_termination_listener(lambda _: self._noted.connections(self.server, -1))
        self._open.add(connection)
        return connection

    async def _ask(self) -> None:
        await asked(self._session)

    def _cut(self) -> None:
        for each in list(self._open):
            each.terminate()
        for opening in self._openings:
            opening.reschedule(asyncio.get_running_loop().time())

    async def close(self) -> None:
        self._unwatch()
        await asyncio.gather(*(each.close() for each in self._others.values()))
        await super().close()

    def terminate(self) -> None:
        self._unwatch()
        for each in self._others.values():
            each.terminate()
        super().terminate()

    def _unwatch(self) -> None:
        if self.watch is not None:
            self.watch.close()
