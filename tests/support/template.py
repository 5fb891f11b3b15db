"""The server of the tests' databases, and the template that they are copied from."""

import os
import tempfile
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg

from abacus.platform.embedded import EmbeddedStack
from tests.support.cluster import Servers
from tests.support.databases import watch
from tests.support.ledgers import make_ledger


@asynccontextmanager
async def opened_server() -> AsyncIterator[str]:
    """The address of the server: `ABACUS_TEST_DATABASE_URL`, or an embedded one that lacks nothing but durability."""
    if (given := os.environ.get("ABACUS_TEST_DATABASE_URL")) is not None:
        yield given
        return
    # Not below pytest's own folder: another run of pytest closes that one to the user Postgres runs as.
    with tempfile.TemporaryDirectory(prefix="abacus-tests-") as directory:
        async with EmbeddedStack(Path(directory), sqs=False, kafka=False, durable=False) as embedded:
            address = str(embedded.database_url)
            await _never_vacuum(address)
            yield address


async def _never_vacuum(database_url: str) -> None:
    """Autovacuum would come once a minute, into the midst of some test, and change plans."""
    connection = await asyncpg.connect(database_url)
    try:
        await connection.execute("alter system set autovacuum = off")
        await connection.execute("select pg_reload_conf()")
    finally:
        await connection.close()


@asynccontextmanager
async def made_template(database_url: str) -> AsyncIterator[str]:
    """The name of a migrated, empty database that each test's own is cloned from."""
    servers, name = await Servers.of(database_url), f"abacus_template_{uuid.uuid4().hex[:8]}"
    try:
        async with servers.alone():
            await watch(await make_ledger(servers, name))
            await servers.close_off(name)
        yield name
        await servers.drop(name)
    finally:
        await servers.close()
