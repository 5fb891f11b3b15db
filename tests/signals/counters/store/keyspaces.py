"""Keyspaces for tests, in a Cassandra that runs."""

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from abacus.signals.counters.store.cassandra import schema
from abacus.signals.counters.store.cassandra.session import Address, Session

DATACENTER: Final = "datacenter1"  # of a node that was not told otherwise


def address(host: str, port: int) -> Address:
    return Address((host,), port, DATACENTER)


@asynccontextmanager
async def own_keyspace(session: Session) -> AsyncIterator[str]:
    name = f"test_{uuid.uuid4().hex[:12]}"
    await schema.make(session, name, DATACENTER, 1)
    yield name
    await session.run(f"drop keyspace {name}")
