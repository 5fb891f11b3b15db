"""Ledgers in memory and on Postgres, as the tests of movements take them."""

import uuid
from collections.abc import AsyncIterator

import asyncpg
import pytest

from abacus.platform.postgres import Pool, open_pool
from tests.ledger.ledgers import NOW
from tests.life.ledgers import Living, LivingInMemory, LivingOnPostgres
from tests.support.fixed_clock import FixedClock
from tests.support.services import Services, administer, database_address
from tests.support.slices import tables_of


@pytest.fixture(scope="module")
async def shared(services: Services, template: str) -> AsyncIterator[str]:
    """One database for the tables of a file: a clone for each of their rows would take longer than all of the rest."""
    name = f"abacus_moves_{uuid.uuid4().hex[:8]}"
    await administer(services, f"create database {name} template {template}")
    yield database_address(services, name)
    await administer(services, f"drop database {name} with (force)")


@pytest.fixture
async def emptied(shared: str) -> AsyncIterator[Pool]:
    owner = await asyncpg.connect(shared, server_settings={"session_replication_role": "replica"})  # without triggers
    await owner.execute(f"truncate {tables_of('account', 'claim', 'draw', 'hold', 'transfer', 'key_slice')}")
    await owner.close()
    pool = await open_pool(shared, size=8)
    yield pool
    await pool.close()


@pytest.fixture(params=["memory", "postgres"])
def ledger(request: pytest.FixtureRequest) -> Living:
    if request.param == "memory":
        return LivingInMemory(FixedClock(NOW))
    on_several = request.getfixturevalue("servers").are_several  # to empty the tables of all takes longer than a clone
    return LivingOnPostgres(request.getfixturevalue("pool" if on_several else "emptied"), FixedClock(NOW))
