"""`abacus counters store init` makes what the store in Cassandra needs."""

import uuid
from typing import Final

import pytest

from abacus.signals.counters.store.cassandra.counters import CassandraCounterStore
from abacus.signals.counters.store.cassandra.session import Address, Session
from tests.signals.counters.store.keyspaces import DATACENTER
from tests.signals.counters.store.rows import around, quarter, row
from tests.support.commands import abacus
from tests.support.fixed_clock import FixedClock

INIT: Final = ("counters", "store", "init")
NAMED: Final = {
    "ABACUS_COUNTER_STORE": "cassandra",
    "ABACUS_CASSANDRA_HOSTS": "127.0.0.1",
    "ABACUS_CASSANDRA_DATACENTER": "dc7",
}
REFUSED: Final = [
    ({}, "ABACUS_COUNTER_STORE is postgres: `abacus migrate` makes its table"),
    ({"ABACUS_COUNTER_STORE": "cassandra"}, "ABACUS_CASSANDRA_HOSTS is not set"),
    (NAMED | {"ABACUS_CASSANDRA_DATACENTER": ""}, "ABACUS_CASSANDRA_DATACENTER is not set"),
]


@pytest.mark.parametrize(("env", "why"), REFUSED)
async def test_what_is_refused(env: dict[str, str], why: str) -> None:
    ran = await abacus(*INIT, env=env)
    assert (ran.code, ran.err.strip()) == (2, f"abacus: {why}")


async def test_the_cql_is_printed_for_who_may_run_it() -> None:
    ran = await abacus(*INIT, "--print", "--replicas", "5", env=NAMED)
    assert ran.code == 0
    keyspace, table = ran.out.split(";")[:2]
    assert keyspace == (
        "create keyspace if not exists abacus with replication = {'class': 'NetworkTopologyStrategy', 'dc7': 5}"
    )
    assert "create table if not exists abacus.counter_row" in table
    assert "LeveledCompactionStrategy" in table


async def test_the_table_is_there_afterwards(cassandra: Session, cassandra_at: Address, clock: FixedClock) -> None:
    keyspace = f"test_{uuid.uuid4().hex[:12]}"
    env = NAMED | {
        "ABACUS_CASSANDRA_PORT": str(cassandra_at.port),
        "ABACUS_CASSANDRA_DATACENTER": DATACENTER,
        "ABACUS_CASSANDRA_KEYSPACE": keyspace,
    }
    for _ in range(2):
        ran = await abacus(*INIT, "--replicas", "1", env=env)
        assert ran.code == 0, ran.err
    store = CassandraCounterStore(cassandra, keyspace, clock)
    await store.save([row("a", quarter(0), 1, 1, 1)])
    assert list(await store.sums([around("a", quarter(0))])) == [1]
    await cassandra.run(f"drop keyspace {keyspace}")


async def test_a_cluster_that_is_away_ends_the_command(unused_tcp_port: int) -> None:
    ran = await abacus(*INIT, env=NAMED | {"ABACUS_CASSANDRA_PORT": str(unused_tcp_port)})
    assert ran.code == 1
    assert ran.err.startswith("abacus: cassandra unavailable: ")
