"""Whatever happens to the processes, the sums equal a plain count of the topic, and the tallies add up."""

import os
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final, NamedTuple

import pytest

from abacus.core.clock import SystemClock
from abacus.platform.postgres import Pool
from abacus.signals.counters.decide.account import EventFates
from abacus.signals.counters.decide.catalog import Catalog
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.store.cassandra.counters import CassandraCounterStore
from abacus.signals.counters.store.cassandra.session import Session
from abacus.signals.counters.store.port import CounterStore
from abacus.signals.counters.store.postgres import PostgresCounterStore
from tests.signals.counters.memory_topic import MemoryTopic
from tests.signals.counters.rides import (
    NO_RIDES,
    Ride,
    Sums,
    added_up,
    drafts,
    plain_count,
    rides,
    rides_source,
    stored_sums,
    tallies,
)
from tests.signals.counters.store.keyspaces import own_keyspace
from tests.signals.counters.stored import sums_in_cassandra
from tests.signals.counters.storm import Storm

PARTITIONS: Final = 3
ROOM: Final = 7  # for new keys
_FIRST: Final = int(os.environ.get("ABACUS_TEST_STORM", "0"))  # more storms by hand: another first seed, and -k
SEEDS: Final = (  # CI plays the last two with counters in Postgres alone
    *(_FIRST, _FIRST + 1),
    *(pytest.param(seed, marks=pytest.mark.night) for seed in (_FIRST + 2, _FIRST + 3)),
)


class Sent:
    """What was sent to each partition, in its order: rides, some of them again, and other messages."""

    def __init__(self, topic: MemoryTopic, rng: random.Random) -> None:
        self.partitions: list[list[Ride | bytes]] = [[] for _ in topic.partitions]
        self._topic = topic
        self._rng = rng
        self._number = 0

    def send(self, count: int, at: datetime) -> None:
        for each in rides(count, self._rng, first=self._number):
            held = self.partitions[each.member % PARTITIONS]
            sent = self._rng.choice((*[each] * 6, NO_RIDES[0], self._rng.choice([*held, each])))
            held.append(sent)
            self._topic.append(each.member % PARTITIONS, sent if isinstance(sent, bytes) else sent.body, at)
        self._number += count


class Kept(NamedTuple):
    """A store of counters, and how its sums over all writers are read."""

    store: CounterStore
    sums: Callable[[], Awaitable[Sums]]


@pytest.fixture
def in_postgres(pool: Pool) -> Kept:
    return Kept(PostgresCounterStore(pool, SystemClock()), partial(stored_sums, pool))


@pytest.fixture
async def in_cassandra(cassandra: Session) -> AsyncIterator[Kept]:
    async with own_keyspace(cassandra) as name:
        store = CassandraCounterStore(cassandra, name, SystemClock())
        yield Kept(store, partial(sums_in_cassandra, cassandra, name))


@pytest.fixture(params=["postgres", "cassandra"])
def kept(request: pytest.FixtureRequest) -> Kept:
    chosen: Kept = request.getfixturevalue(f"in_{request.param}")
    return chosen


@pytest.mark.parametrize("seed", SEEDS)
async def test_nothing_is_lost_and_nothing_counted_twice(pool: Pool, kept: Kept, seed: int) -> None:
    rng, now = random.Random(seed), datetime.now(UTC)
    topic, source = MemoryTopic("rides", PARTITIONS), rides_source("rides").published(1)
    members, fares, cars = drafts(source)
    early = [each.published(1, now - timedelta(days=9)) for each in (members, fares)]
    all_ = [*early, cars.published(1, now)]
    sent, storm = Sent(topic, rng), Storm(topic, kept.store, pool, rng)

    sent.send(150, now - timedelta(minutes=5))
    storm.catalogs.append(Catalog(early, {"rides": source}))
    await storm.blow(60)
    storm.catalogs.append(Catalog(all_, {"rides": source}))
    sent.send(150, now + timedelta(minutes=1))
    await storm.blow(90)
    await storm.calm()

    expected, became = await _plainly(pool, sent, all_)
    assert await kept.sums() == expected
    assert await tallies(pool) == became


@pytest.mark.parametrize("seed", SEEDS)
async def test_new_keys_keep_within_their_bound_and_count_whole_or_not_at_all(
    pool: Pool, kept: Kept, seed: int
) -> None:
    """Twenty members ride, and the day has room for seven. A member's rides are in one partition: the members who ride
    first have the room, and keep it, whichever process counts, and however often.
    """
    rng, now = random.Random(seed), datetime.now(UTC)
    noon = now.replace(hour=12)  # the stamps of all messages, so that there is one day
    topic, source = MemoryTopic("rides", PARTITIONS), rides_source("rides").published(1)
    members, fares, _ = (each.published(1, now - timedelta(days=9)) for each in drafts(source))
    members = replace(members, new_keys_per_day=ROOM)
    sent, storm = Sent(topic, rng), Storm(topic, kept.store, pool, rng)
    storm.catalogs.append(Catalog([members, fares], {"rides": source}))

    sent.send(150, noon)
    await storm.blow(75)
    sent.send(150, noon)
    await storm.blow(75)
    await storm.calm()

    sums, (every, became) = await kept.sums(), await _plainly(pool, sent, [members, fares])
    admitted = {key for key, _ in sums if key.startswith(members.space)}
    assert len(admitted) == ROOM
    assert sums == {(key, slot): units for (key, slot), units in every.items() if key in admitted or key[0] == "2"}
    assert await tallies(pool) == became
    days = (
        "select sum(granted)::int, sum(admitted)::int, sum(refused)::int from counter_new_keys where definition_id = 1"
    )
    once = {each for held in sent.partitions for each in held if isinstance(each, Ride)}
    refused = [each for each in once if members.stored_key(f"rides:member:m{each.member}") not in admitted]
    assert tuple(await pool.fetchrow(days)) == (ROOM, ROOM, len(refused))


async def _plainly(pool: Pool, sent: Sent, definitions: list[Definition]) -> tuple[Sums, EventFates]:
    """One message after another: a ride counts when it comes first, for the definitions that have begun by then."""
    rows = await pool.fetch("select writer % 65536 as partition, definition_id, first from counter_start")
    begins = {(partition, definition_id): first for partition, definition_id, first in rows}
    sums, repeated, bad = [], 0, 0
    for partition, held in enumerate(sent.partitions):
        for offset, each in enumerate(held):
            if isinstance(each, bytes):
                bad += 1
            elif each in held[:offset]:
                repeated += 1
            else:
                begun = [one for one in definitions if begins[partition, one.id] <= offset]
                sums.append(plain_count([each], begun))
    seen = sum(map(len, sent.partitions))
    return added_up(sums), EventFates(seen, seen - repeated - bad, ignored=0, repeated=repeated, set_aside=bad)
