"""A sandbox beside the ledger of the house."""

from collections.abc import AsyncIterator

import pytest

from abacus.platform.migrations import make_sandbox
from abacus.platform.postgres import Pool, open_pool
from abacus.platform.sandbox import SESSION
from tests.support.house import House


@pytest.fixture
async def sandbox(house: House) -> AsyncIterator[Pool]:
    await make_sandbox(house.settings.required("database_url"))
    pool = await open_pool(house.settings.required("database_url"), size=2, settings=SESSION)
    yield pool
    await pool.close()
