"""Houses whose store of counters can be cut off."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from abacus.platform.settings import Settings
from tests.signals.counters.counting import CountingHouse
from tests.support.proxy import Proxy, proxied


class StoreBehindProxy(NamedTuple):
    """The way to a store, the settings that lead there, and the store's name in messages."""

    proxy: Proxy
    settings: Settings
    name: str


@asynccontextmanager
async def store_behind_proxy(counting: CountingHouse) -> AsyncIterator[StoreBehindProxy]:
    """The house's store, by a way that a test can cut. In Postgres that is the database with all else in it."""
    settings = counting.house.settings
    if counting.cassandra is None:
        async with proxied(settings.required("database_url")) as (proxy, address):
            yield StoreBehindProxy(proxy, settings.model_copy(update={"database_url": address}), "database")
    else:
        async with proxied(f"//{settings.cassandra_hosts}:{settings.cassandra_port}") as (proxy, _):
            yield StoreBehindProxy(proxy, settings.model_copy(update={"cassandra_port": proxy.port}), "cassandra")
