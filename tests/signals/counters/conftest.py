"""Houses that count rides, one with each store of counters."""

import os
from collections.abc import AsyncIterator

import pytest

from abacus.signals.counters.store.cassandra.session import Address, Session
from tests.signals.counters.counting import CountingHouse, counting_house
from tests.signals.counters.store.keyspaces import address
from tests.signals.counters.stored import house_on_cassandra
from tests.support.house import House


@pytest.fixture(scope="session")
def cassandra_at() -> Address:
    """The Cassandra that `ABACUS_TEST_CASSANDRA_…` names: `make services ARGS=cassandra`."""
    if "ABACUS_TEST_CASSANDRA_HOSTS" not in os.environ:
        pytest.skip("no Cassandra: make services ARGS=cassandra")
    return address(os.environ["ABACUS_TEST_CASSANDRA_HOSTS"], int(os.environ["ABACUS_TEST_CASSANDRA_PORT"]))


@pytest.fixture(scope="session")
async def cassandra(cassandra_at: Address) -> AsyncIterator[Session]:
    async with Session(cassandra_at) as session:
        yield session


@pytest.fixture
async def postgres_counting(house: House) -> CountingHouse:
    return await counting_house(house)


@pytest.fixture
async def cassandra_counting(house: House, cassandra: Session, cassandra_at: Address) -> AsyncIterator[CountingHouse]:
    """In a keyspace of the test's own."""
    async with house_on_cassandra(house, cassandra, cassandra_at) as on_cassandra:
        yield await counting_house(on_cassandra, cassandra=cassandra)


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.services) for name in ("postgres", "cassandra")])
def counting(request: pytest.FixtureRequest) -> CountingHouse:
    """On each store in turn."""
    chosen: CountingHouse = request.getfixturevalue(f"{request.param}_counting")
    return chosen
