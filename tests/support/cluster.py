"""The servers of the database under test: several where `ABACUS_TEST_DATABASE_URL` names the coordinator of a Citus.

A database of a test lies on all of them. Its copies know each other by their servers' addresses, which a copy of the
files brings along.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from urllib.parse import urlsplit, urlunsplit

import asyncpg

_HAS_CITUS = "select exists(select from pg_extension where extname = 'citus')"
_SERVERS = "select nodename, nodeport from pg_dist_node where noderole = 'primary' order by groupid"
_STOP_MS = 10_000
_END = f"select pg_terminate_backend(pid, {_STOP_MS}) from pg_stat_activity where datname = '{{name}}'"
_TRIES = 50
_ON_ALL = "select result from run_command_on_all_nodes($1)"


class Servers:
    """The servers, the coordinator first; one, where there is no Citus."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self._addresses = addresses
        self._administrators: list[asyncpg.Connection] = []
        self._administering = asyncio.Lock()  # crash points are tried in several places at once

    @classmethod
    async def of(cls, database_url: str) -> "Servers":
        connection = await asyncpg.connect(database_url)
        try:
            if not await connection.fetchval(_HAS_CITUS):
                return cls([database_url])
            servers = await connection.fetch(_SERVERS)
        finally:
            await connection.close()
        return cls([_at(database_url, *server) for server in servers])

    @property
    def are_several(self) -> bool:
        return len(self._addresses) > 1

    @property
    def addresses(self) -> Sequence[str]:
        """Of the database that was named, on each of them."""
        return self._addresses

    @property
    def ports(self) -> list[int]:
        return [_place(address)[1] for address in self._addresses]

    def address_of(self, name: str) -> str:
        """The address of the database of that name."""
        return _named(self._addresses[0], name)

    async def administer(self, *statements: str) -> None:
        """Run the statements one after the other, each on all servers at once, and to its end on all of them."""
        async with self._administering:
            if not self._administrators or any(each.is_closed() for each in self._administrators):
                self._administrators = [await asyncpg.connect(address) for address in self._addresses]
            for statement in statements:
                running = (each.execute(statement) for each in self._administrators)
                ended = await asyncio.gather(*running, return_exceptions=True)
                if failures := [each for each in ended if isinstance(each, BaseException)]:
                    raise failures[0]

    async def create(self, name: str) -> None:
        """A database of that name, which Citus knows on all servers."""
        await self.administer(f"create database {name}")
        if not self.are_several:
            return
        first, *others = [await asyncpg.connect(_named(address, name)) for address in self._addresses]
        try:
            for each in (first, *others):
                await each.execute("create extension citus")
            (host, port), *servers = [_place(address) for address in self._addresses]
            await first.fetchval("select citus_set_coordinator_host($1, $2)", host, port)
            for server in servers:
                await first.fetchval("select citus_add_node($1, $2)", *server)
        finally:
            for each in (first, *others):
                await each.close()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """One of several test processes at a time: roles are those of the whole server, and migrations make them."""
        async with _connected(self._addresses[0]) as connection:
            await connection.execute("select pg_advisory_lock(hashtext('abacus tests'))")
            yield

    async def close_off(self, name: str) -> None:
        """Let nobody use the database, so that it can be copied."""
        await self.administer(f"alter database {name} with allow_connections false", _END.format(name=name))

    async def rename(self, name: str, other: str) -> None:
        """Whoever uses the database is cut off, and finds none of this name any more."""
        await self.administer(_END.format(name=name), f"alter database {name} rename to {other}")

    async def tidy(self, name: str) -> None:
        """What moves have left that were killed, which would keep the database from being dropped. Citus does it too,
        later.
        """
        if not self.are_several:
            return
        for _ in range(_TRIES):
            async with _connected(_named(self._addresses[0], name)) as coordinator:
                await coordinator.execute("call citus_cleanup_orphaned_resources()")
            async with _connected(self._addresses[0]) as connection:
                left = "select count(*) from pg_subscription s join pg_database d on d.oid = s.subdbid"
                of_all = await connection.fetch(_ON_ALL, f"{left} where d.datname = '{name}'")
            if all(row["result"] == "0" for row in of_all):
                return
            await asyncio.sleep(0.5)

    async def drop(self, name: str) -> None:
        """Also while Citus looks after the database: it comes again when its session is ended."""
        for left in range(_TRIES, -1, -1):
            try:
                await self.administer(f"drop database if exists {name} with (force)")
            except asyncpg.ObjectInUseError:
                if not left:
                    raise
                await asyncio.sleep(0.2)
            else:
                return

    async def close(self) -> None:
        for each in self._administrators:
            await each.close()


@asynccontextmanager
async def _connected(address: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(address)
    try:
        yield connection
    finally:
        await connection.close()


def _place(database_url: str) -> tuple[str, int]:
    parts = urlsplit(database_url)
    return parts.hostname or "localhost", parts.port or 5432


def _at(database_url: str, host: str, port: int) -> str:
    parts = urlsplit(database_url)
    login, at, _ = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=f"{login}{at}{host}:{port}"))


def _named(database_url: str, name: str) -> str:
    return urlunsplit(urlsplit(database_url)._replace(path=f"/{name}"))
