"""A ledger in eight slices on one server, whatever the other tests have."""

import uuid
from collections.abc import AsyncIterator

import asyncpg
import pytest

from abacus.ledger.store.post import PostgresLedger
from abacus.platform.migrations import cut, migrate
from abacus.platform.postgres import LOOKUPS_BY_KEY, Connection, Pool, open_pool
from tests.ledger.slices.eight import CLOCK
from tests.support.services import Services, administer, database_address


@pytest.fixture(scope="module")
async def template(services: Services) -> AsyncIterator[str]:
    name = f"abacus_eight_{uuid.uuid4().hex[:8]}"
    await administer(services, f"create database {name}")
    await migrate(database_address(services, name))
    yield name
    await administer(services, f"drop database {name} with (force)")


@pytest.fixture
async def url(services: Services, template: str) -> AsyncIterator[str]:
    """A migrated database, not cut yet."""
    name = f"abacus_eight_{uuid.uuid4().hex[:8]}"
    await administer(services, f"create database {name} template {template}")
    yield database_address(services, name)
    await administer(services, f"drop database {name} with (force)")


@pytest.fixture
async def owner(url: str) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(url)
    yield connection
    await connection.close()


@pytest.fixture
async def pool(url: str) -> AsyncIterator[Pool]:
    await cut(url, 8)
    opened = await open_pool(url, size=3, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
    yield opened
    await opened.close()


@pytest.fixture
def ledger(pool: Pool) -> PostgresLedger:
    return PostgresLedger(pool, CLOCK)
