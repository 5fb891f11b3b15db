"""Lookups over HTTP where the counters are in Cassandra: it and the ledger's database go away one at a time."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from abacus.core.clock import SystemClock
from abacus.platform.metrics import total
from abacus.platform.settings import Settings
from abacus.signals.counters.decide.grid import slot_of
from abacus.signals.counters.metrics import COUNT_LOOKUPS, COUNT_RANGES
from abacus.signals.counters.reading.cache_share import CacheShareStore
from abacus.signals.counters.store.cassandra.counters import CassandraCounterStore
from abacus.signals.counters.store.cassandra.session import Session
from abacus.signals.counters.types import Count, Grain, Row, RowKey
from tests.signals.counters.away import store_behind_proxy
from tests.signals.counters.counting import CountingHouse
from tests.signals.counters.rides import RIDES_OF_MEMBER
from tests.support.counters import parts_found
from tests.support.house import House, until
from tests.support.proxy import proxied
from tests.support.shop import count_desk, register

DAY_S = 86_400
TODAY = int(datetime.now(UTC).timestamp()) // DAY_S * DAY_S
MEMBER = "rides:member:m1"
PAST = {"key": MEMBER, "from": TODAY - 5 * DAY_S, "to": TODAY - 4 * DAY_S}
UNKNOWN = {"key": "rides:nobody", "from": 0, "to": 1}


@dataclass(frozen=True)
class Riders:
    """A house with seven rides of a member, five days ago, and the key of a partner that may ask for them."""

    house: House
    key: str

    @asynccontextmanager
    async def served(self, settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
        async with count_desk(self.house, settings) as desk:
            yield await desk.caller(self.key)


@pytest.fixture
async def riders(cassandra_counting: CountingHouse, cassandra: Session) -> Riders:
    house, clock = cassandra_counting.house, SystemClock()
    [counter] = await cassandra_counting.publish(RIDES_OF_MEMBER, ago=timedelta(hours=2))
    place = RowKey(counter.stored_key(MEMBER), slot_of(Grain.DAY, TODAY - 5 * DAY_S), 1)
    store = CassandraCounterStore(cassandra, house.settings.cassandra_keyspace, clock)
    await store.save([Row(place, Count(7, 7), TODAY + 30 * DAY_S)])
    return Riders(house, await register(house, may_count=True))


async def ask(caller: httpx.AsyncClient, *queries: dict[str, Any]) -> dict[str, Any]:
    answer = await caller.post("/v1/counts", json={"queries": queries})
    assert answer.status_code == 200, answer.text
    document: dict[str, Any] = answer.json()
    return document


async def test_without_cassandra_each_lookup_that_needs_it_says_so(
    riders: Riders, cassandra_counting: CountingHouse
) -> None:
    clock = SystemClock()
    await CacheShareStore(riders.house.pool, clock).set(100, by="tests")
    recent = {"key": MEMBER, "from": int((clock.now() - timedelta(hours=1)).timestamp()), "to": 2_000_000_000}
    async with store_behind_proxy(cassandra_counting) as way, riders.served(way.settings) as caller:

        async def from_memory() -> bool:
            before = parts_found()
            return not (await ask(caller, PAST))["partial"] and parts_found() > before

        async def whole() -> bool:
            return not (await ask(caller, PAST, recent))["partial"]

        await until(from_memory)
        away = total(COUNT_LOOKUPS, outcome="unavailable")
        await way.proxy.cut()
        answer = await ask(caller, PAST, recent, UNKNOWN)
        assert answer["partial"] is True
        kept, unread, unknown = answer["results"]
        assert kept["count"] == 7
        assert (unread["error"]["type"], unread["error"]["status"]) == ("/problems/unavailable", 503)
        assert unknown["error"]["status"] == 404
        assert total(COUNT_LOOKUPS, outcome="unavailable") == away + 1
        await way.proxy.mend()
        await until(whole)


async def test_without_the_database_what_was_read_last_serves(riders: Riders) -> None:
    """The partner and the definition are known, and nothing is kept: the count comes from Cassandra."""
    settings = riders.house.settings
    async with (
        proxied(settings.required("database_url")) as (proxy, address),
        riders.served(settings.model_copy(update={"database_url": address})) as caller,
    ):
        assert (await ask(caller, PAST))["results"][0]["count"] == 7
        await proxy.cut()
        before = total(COUNT_RANGES, origin="store")
        known, unknown = (await ask(caller, PAST, UNKNOWN))["results"]
        assert known["count"] == 7
        assert unknown["error"]["status"] == 404
        assert total(COUNT_RANGES, origin="store") > before
