"""Houses that keep their counters in Cassandra, and what is stored there."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final

from abacus.signals.counters.decide.grid import grain_of
from abacus.signals.counters.store.cassandra.schema import TABLE
from abacus.signals.counters.store.cassandra.session import Address, Session
from tests.signals.counters.rides import COUNTED, Sums, added_up
from tests.signals.counters.store.keyspaces import own_keyspace
from tests.support.house import House

_KEYS: Final = "select distinct key from {table}"
_SUMS: Final = "select slot, sum(count) from {table} where key = ? group by key, slot"


@asynccontextmanager
async def house_on_cassandra(house: House, session: Session, at: Address) -> AsyncIterator[House]:
    """The house with its counters in a keyspace of its own in the Cassandra at this address."""
    async with own_keyspace(session) as name:
        chosen = {
            "counter_store": "cassandra",
            "cassandra_hosts": ",".join(at.hosts),
            "cassandra_port": at.port,
            "cassandra_keyspace": name,
            "cassandra_datacenter": at.datacenter,
        }
        yield replace(house, settings=house.settings.model_copy(update=chosen))


async def sums_in_cassandra(session: Session, keyspace: str) -> Sums:
    """The sums over all writers, as they are stored."""
    table = f"{keyspace}.{TABLE}"
    parts: list[Sums] = []

    async def read(key: str) -> None:
        rows = await session.fetch(_SUMS.format(table=table), (key,))
        parts.append({(key, slot): units for slot, units in rows if grain_of(slot) in COUNTED})

    await session.each(read, [key for (key,) in await session.fetch(_KEYS.format(table=table), ())])
    return added_up(parts)
