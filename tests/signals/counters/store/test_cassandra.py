"""What only the store in Cassandra has: times to live, timestamps, a cluster that is away."""

import asyncio
import socket
from datetime import timedelta

import pytest

from abacus.core.errors import Refused, Unavailable
from abacus.signals.counters.store.cassandra.counters import CassandraCounterStore
from abacus.signals.counters.store.cassandra.schema import TABLE
from abacus.signals.counters.store.cassandra.session import Session
from abacus.signals.counters.types import Count
from tests.signals.counters.store.keyspaces import address, own_keyspace
from tests.signals.counters.store.rows import DAY_S, NOW, around, quarter, row
from tests.support.fixed_clock import FixedClock

NOON = quarter(0)


async def test_a_row_lives_until_its_second_however_often_it_is_saved(
    cassandra_store: CassandraCounterStore, cassandra: Session, keyspace: str, clock: FixedClock
) -> None:
    await cassandra_store.save(
        [row("a", NOON, 1, 1, 1, keep_s=8 * DAY_S), row("b", NOON, 1, 1, 1, keep_s=12 * 366 * DAY_S)]
    )
    clock.set(NOW + timedelta(days=3))
    await cassandra_store.save([row("a", NOON, 1, 2, 2, keep_s=8 * DAY_S)])
    lives = await cassandra.fetch(f"select key, ttl(count) from {keyspace}.{TABLE} where key in ?", (["a", "b"],))
    (left,) = [seconds for key, seconds in lives if key == "a"]
    assert 5 * DAY_S - 60 <= left <= 5 * DAY_S
    assert ("b", None) in lives, "Cassandra takes no time beyond 2038: it is kept for ever"


async def test_a_row_is_gone_at_its_second(cassandra_store: CassandraCounterStore, clock: FixedClock) -> None:
    clock.set(NOW + timedelta(seconds=-1))
    gone = row("a", NOON, 1, 1, 1, keep_s=0)  # in a second
    await cassandra_store.save([gone])
    async with asyncio.timeout(30):
        while list(await cassandra_store.sums([around("a", NOON)])) != [0]:  # noqa: ASYNC110  # another process
            await asyncio.sleep(0.05)
    assert await cassandra_store.load([gone.key]) == {}
    clock.set(NOW)
    later = row("a", NOON, 1, 5, 7)
    await cassandra_store.save([later])
    assert await cassandra_store.load([later.key]) == {later.key: Count(5, 7)}


async def test_a_compaction_by_time_is_refused(cassandra: Session, clock: FixedClock) -> None:
    async with own_keyspace(cassandra) as name:
        await cassandra.run(f"alter table {name}.{TABLE} with compaction = {{'class': 'TimeWindowCompactionStrategy'}}")
        with pytest.raises(Refused, match="takes the timestamps of writes for times"):
            await CassandraCounterStore(cassandra, name, clock).load([])


async def test_a_table_that_is_not_there_is_waited_for(cassandra: Session, clock: FixedClock) -> None:
    store = CassandraCounterStore(cassandra, "nobody", clock)
    with pytest.raises(Unavailable, match="run `abacus counters store init`"):
        await store.sums([around("a", NOON)])


async def test_a_cluster_that_is_away(clock: FixedClock) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        async with Session(address("127.0.0.1", nobody.getsockname()[1])) as session:
            store = CassandraCounterStore(session, "abacus", clock)
            for _ in range(2):
                with pytest.raises(Unavailable, match="cassandra"):
                    await store.load([row("a", NOON, 1, 1, 1).key])
