"""Logins, a broker and a relay for erasing a member."""

from collections.abc import AsyncIterator

import pytest

from abacus.platform.postgres import Pool, open_pool
from tests.support.forgetting import CLOCK
from tests.support.points_broker import Broker, Relays


@pytest.fixture
async def owner(database_url: str) -> AsyncIterator[Pool]:
    """Connections as the login that ran the migrations."""
    opened = await open_pool(database_url, size=4, role=None)
    yield opened
    await opened.close()


@pytest.fixture
def broker() -> Broker:
    return Broker()


@pytest.fixture
def relay(pool: Pool, broker: Broker) -> Relays:
    return Relays(pool, broker, CLOCK)
