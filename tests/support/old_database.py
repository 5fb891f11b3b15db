"""Databases at an earlier revision, for tests of the migrations that follow it."""

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg

from abacus.platform.migrations import migrate
from tests.support.services import Services, database_address


@asynccontextmanager
async def database_at(revision: str, services: Services) -> AsyncIterator[str]:
    """The address of a new database, which is dropped at the end."""
    name = f"abacus_old_{uuid.uuid4().hex[:8]}"
    administrator = await asyncpg.connect(services.database_url)
    await administrator.execute(f"create database {name}")
    try:
        url = database_address(services, name)
        await migrate(url, revision)
        yield url
    finally:
        await administrator.execute(f"drop database {name} with (force)")
        await administrator.close()
