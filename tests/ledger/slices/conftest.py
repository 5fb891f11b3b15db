"""A ledger in eight slices on one server, whatever the other tests have."""

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import pytest

from abacus.ledger.store.post import PostgresLedger
from abacus.platform.migrations import cut, migrate
from abacus.platform.postgres import LOOKUPS_BY_KEY, Connection, Pool, open_pool
from tests.ledger.slices.eight import CLOCK
from tests.support.cluster import Servers
from tests.support.databases import Databases, watch
from tests.support.once import run_once
from tests.support.services import Services, administer, database_address, how_to_copy

pytest_collection_modifyitems = run_once(__file__)  # these tests cut their ledgers themselves


@pytest.fixture(scope="session")
async def migrated(services: Services) -> AsyncIterator[str]:
    """A migrated database, not cut yet, that others are cloned from."""
    name = f"abacus_eight_{uuid.uuid4().hex[:8]}"
    await administer(services, f"create database {name}")
    await migrate(database_address(services, name))
    yield name
    await administer(services, f"drop database {name} with (force)")


@pytest.fixture(scope="session")
async def in_eight(services: Services, migrated: str) -> AsyncIterator[str]:
    """The same, cut into eight slices."""
    name = f"abacus_eight_{uuid.uuid4().hex[:8]}"
    await administer(services, f"create database {name} template {migrated}")
    await cut(database_address(services, name), 8)
    yield name
    await administer(services, f"drop database {name} with (force)")


@pytest.fixture(scope="session")
async def sliced(services: Services, servers: Servers, in_eight: str) -> AsyncIterator[Databases]:
    async with _used_again(services, servers, in_eight) as opened:
        yield opened


@pytest.fixture(scope="session")
async def uncut(services: Services, servers: Servers, migrated: str, in_eight: str) -> AsyncIterator[Databases]:
    """Not before the other is cut: that would be a change of the schema."""
    async with _used_again(services, servers, migrated) as opened:
        yield opened


@asynccontextmanager
async def _used_again(services: Services, servers: Servers, template: str) -> AsyncIterator[Databases]:
    await watch(database_address(services, template), tests_write=False)
    opened = Databases(services, servers, template, await how_to_copy(services))
    yield opened
    await opened.close()


@pytest.fixture
async def url(request: pytest.FixtureRequest, sliced: Databases, uncut: Databases) -> AsyncIterator[str]:
    """A database of this test's own: in eight slices for a test with a `pool`, and else not cut yet."""
    async with (sliced if "pool" in request.fixturenames else uncut).one() as database:
        yield database.address


@pytest.fixture
async def owner(url: str) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(url)
    yield connection
    await connection.close()


@pytest.fixture
async def pool(url: str) -> AsyncIterator[Pool]:
    opened = await open_pool(url, size=3, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
    yield opened
    await opened.close()


@pytest.fixture
def ledger(pool: Pool) -> PostgresLedger:
    return PostgresLedger(pool, CLOCK)
