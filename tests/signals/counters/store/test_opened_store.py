"""The store that was chosen is opened."""

import sys

import pytest

from abacus.core.errors import Refused
from abacus.platform.postgres import Pool
from abacus.signals.counters.store.cassandra.session import Address
from abacus.signals.counters.store.opened_store import Cluster, open_store
from tests.signals.counters.store.keyspaces import address
from tests.signals.counters.store.rows import NOW, around, quarter, row
from tests.support.fixed_clock import FixedClock

NOON = quarter(0)
ELSEWHERE = Cluster(address("127.0.0.1", 9), "abacus")


async def test_postgres_unless_a_cluster_is_named(pool: Pool) -> None:
    async with open_store(None, pool, FixedClock(NOW)) as opened:
        await opened.store.save([row("a", NOON, 1, 1, 1)])
    assert await pool.fetchval("select count(*) from counter_row") == 1


async def test_a_cluster(pool: Pool, cassandra_at: Address, keyspace: str) -> None:
    async with open_store(Cluster(cassandra_at, keyspace), pool, FixedClock(NOW)) as opened:
        await opened.store.save([row("opened", NOON, 1, 1, 1)])
        assert list(await opened.store.sums([around("opened", NOON)])) == [1]
        await opened.tend()
    assert await pool.fetchval("select count(*) from counter_row") == 0


async def test_the_driver_is_missing(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "acsylla", None)
    with pytest.raises(Refused, match=r"install abacus\[cassandra\]"):
        async with open_store(ELSEWHERE, pool, FixedClock(NOW)):
            pass
