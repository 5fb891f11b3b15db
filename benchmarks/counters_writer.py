"""The writer of counters: batches of a topic's records, as the reader hands them over, into embedded Postgres."""

import asyncio
import random
import statistics
import sys
import time
from collections.abc import Collection, Mapping
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import asyncpg
import orjson

from abacus.core.clock import SystemClock
from abacus.core.errors import Unavailable
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.reader import Record
from abacus.platform.migrations import migrate
from abacus.platform.postgres import LOOKUPS_BY_KEY, Pool, open_pool
from abacus.platform.quarantine.store import QuarantineStore
from abacus.process import look_for_garbage_seldom
from abacus.signals.counters.counter import EventCounter
from abacus.signals.counters.decide.batch import EventMemory
from abacus.signals.counters.decide.catalog import Catalog
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.decide.template import read_template
from abacus.signals.counters.kind import Documents
from abacus.signals.counters.new_keys import NewKeysBook
from abacus.signals.counters.open_rows import OpenRows
from abacus.signals.counters.partitions import OpenPartitions
from abacus.signals.counters.series import SeriesBook
from abacus.signals.counters.store.cassandra import schema
from abacus.signals.counters.store.cassandra.counters import CassandraCounterStore
from abacus.signals.counters.store.cassandra.session import Address, Session
from abacus.signals.counters.store.port import CounterStore
from abacus.signals.counters.store.postgres import PostgresCounterStore
from abacus.signals.counters.writer import CounterWriter
from abacus.signals.events.decide.source import parse_source
from benchmarks.report import Figure
from benchmarks.services import cassandra_alone

WANTED: Final = 25_000
WANTED_CASSANDRA: Final = 5_000
BATCH: Final = 10_000
PARTITIONS: Final = 4
ROUNDS: Final = 15
ROUNDS_CASSANDRA: Final = 5
WARM_UP: Final = 3
MEMBERS: Final = 200_000
CITIES: Final = 2_000
WINDOW_S: Final = 86_400
FEW: Final = 50
MANY: Final = 5_000
PLAIN: Final = 2_000
LEAST_OF_FEW: Final = 0.9
OPEN_ROWS: Final = 1_000_000
MOST_MIB: Final = 400
TOPIC: Final = "rides"

_COUNTED: Final = """
    select sum(t.counted)::bigint from counter_tally t join counter_series s on s.series = t.writer / 65536
    where s.identity = $1
"""
_PUBLISHED: Final = datetime(2026, 1, 1, tzinfo=UTC)
RIDES: Final = {
    "source": "rides",
    "topic": TOPIC,
    "fields": {"type": "/type", "id": "/id", "member": "/member", "country": "/country", "time": "/at"},
    "types": {
        "ride.completed": {
            "city": {"pointer": "/city", "type": "integer"},
            "vehicle": {"pointer": "/vehicle", "type": "text"},
        }
    },
}
_TEMPLATES: Final = ("rides:member:{member_id}", "rides:city:{city}:{vehicle}", "rides:country:{country}")


class Standing:
    """A topic that stays as it is."""

    name = TOPIC

    def __init__(self, identity: str) -> None:
        self._identity = identity

    async def identity(self) -> str | None:
        return self._identity

    async def begins_since(
        self, partitions: Collection[int], moments: Collection[datetime]
    ) -> Mapping[datetime, Mapping[int, int]]:
        return {moment: dict.fromkeys(partitions, 0) for moment in moments}

    async def has(self, _partition: int, _offset: int, _print: str) -> bool:
        return True


def documents(others: int) -> Documents:
    """The three counters of every ride, and so many of events that do not come."""
    source = parse_source(RIDES).published(1)
    of_rides = [(number, template, "ride.completed") for number, template in enumerate(_TEMPLATES, 1)]
    of_others = [(9 + number, f"o{number}:{{member_id}}", f"t{number}") for number in range(others)]
    counters = [
        Definition(
            id=number,
            name=f"c{number}",
            template=read_template(template),
            on=(("rides", event_type),),
            version=1,
            published_at=_PUBLISHED,
        )
        for number, template, event_type in of_rides + of_others
    ]
    catalog = Catalog(counters, {"rides": source})
    return Documents(lambda: catalog, "events")


class Rides:
    """Records of a few minutes now: one member in ten makes half of the rides, and few cities have most of them. Or
    each ride is another member's.
    """

    def __init__(self, *, of_few: bool = True) -> None:
        self._rng = random.Random(1)
        self._of_few = of_few
        self._number = 0
        self._offsets = [0] * PARTITIONS
        self._at = datetime.now(UTC) - timedelta(minutes=30)

    def batch(self, size: int = BATCH) -> list[Record]:
        return [self._record() for _ in range(size)]

    def _record(self) -> Record:
        rng = self._rng
        self._number += 1
        self._at += timedelta(milliseconds=0.04)
        member = min(int(rng.paretovariate(0.6)), MEMBERS) if self._of_few else self._number
        city = min(int(rng.paretovariate(0.8)), CITIES)
        partition = member % PARTITIONS
        offset = self._offsets[partition]
        self._offsets[partition] += 1
        body = orjson.dumps(
            {
                "type": "ride.completed",
                "id": f"R-{self._number:010}",
                "member": f"m{member:08}",
                "country": ("SG", "ID", "VN", "TH", "MY")[member % 5],
                "at": self._at.isoformat(),
                "city": city,
                "vehicle": rng.choice(("car", "bike")),
                "fare": "12.50",
                "route": "a note that the counter does not look at",
            }
        )
        return Record(body, TOPIC, partition, offset, int(self._at.timestamp() * 1000))


async def measure(directory: Path) -> list[Figure]:
    async with EmbeddedStack(directory, sqs=False, kafka=False) as stack:
        url = stack.database_url or ""
        await migrate(url)
        look_for_garbage_seldom()
        async with AsyncExitStack() as opened:
            pool = await open_pool(url, size=3, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
            opened.push_async_callback(pool.close)
            rides, store = Rides(), PostgresCounterStore(pool, SystemClock())
            few, many = await _rates_in_turns(pool, store, rides)
            plain = await _upserts(url, rides)
            (directory / "cassandra").mkdir()
            in_cassandra = await _cassandra_rate(directory / "cassandra", pool, rides)
        full = await _memory(url)
    return [
        Figure(
            f"counter, {ROUNDS * BATCH:,} events by {len(_TEMPLATES)} counters, one process and embedded Postgres",
            f"{few:,.0f} events/s",
            ratio=f"{few / plain:.1f} times an upsert for each event and counter",
            wanted=f">= {WANTED:,}/s",
            reached=few >= WANTED,
        ),
        Figure(
            f"… beside {MANY:,} other definitions, in turns",
            f"{many:,.0f} events/s",
            ratio=f"{many / few:.2f} of {FEW}",
            wanted=f">= {LEAST_OF_FEW}",
            reached=many >= LEAST_OF_FEW * few,
            anywhere=True,
        ),
        Figure(
            f"… with {full['rows']:,} open rows, the most memory of the process",
            f"{full['mib']:,} MiB",
            ratio=f"{full['empty_mib']:,} MiB before the first",
            wanted=f"< {MOST_MIB} MiB",
            reached=full["mib"] < MOST_MIB,
            anywhere=True,
        ),
        Figure(
            f"counter on Cassandra, {ROUNDS_CASSANDRA * BATCH:,} events by {len(_TEMPLATES)} counters, one process",
            f"{in_cassandra:,.0f} events/s",
            ratio=f"{in_cassandra / few:.2f} of Postgres",
            wanted=f">= {WANTED_CASSANDRA:,}/s",
            reached=in_cassandra >= WANTED_CASSANDRA,
        ),
    ]


async def _memory(url: str) -> dict[str, int]:
    """What a process says of its memory, which fills its open rows."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "benchmarks.counters_memory", url), stdout=asyncio.subprocess.PIPE
    )
    said, _ = await process.communicate()
    if process.returncode:
        raise Unavailable("counter", f"the process that fills its rows ended with {process.returncode}")
    found: dict[str, int] = orjson.loads(said.splitlines()[-1])
    return found


def writer_of(pool: Pool, store: CounterStore, identity: str, in_force: Documents, rows: OpenRows) -> CounterWriter:
    """The writer of the topic of this identity."""
    clock, standing = SystemClock(), Standing(identity)
    counter = EventCounter(
        store,
        rows,
        QuarantineStore(pool, clock),
        EventMemory(timedelta(seconds=WINDOW_S)),
        clock,
        new_keys=NewKeysBook(pool, clock),
    )
    partitions = OpenPartitions(standing, SeriesBook(pool, clock))
    return CounterWriter(standing, in_force, partitions, counter, WorkerHealth("counter"))


async def _cassandra_rate(home: Path, pool: Pool, rides: "Rides") -> float:
    async with cassandra_alone(home) as port, Session(Address(("127.0.0.1",), port)) as session:
        await schema.make(session, "bench", "datacenter1", 1)
        store = CassandraCounterStore(session, "bench", SystemClock())
        return await _rate(pool, store, "cassandra", documents(FEW), rides, rounds=ROUNDS_CASSANDRA)


async def _rates_in_turns(pool: Pool, store: CounterStore, rides: "Rides") -> tuple[float, float]:
    """Events a second beside few and beside many definitions, in the median round of each."""
    writers = [
        writer_of(pool, store, identity, documents(others), OpenRows(OPEN_ROWS))
        for identity, others in (("few", FEW), ("many", MANY))
    ]
    seconds: list[list[float]] = [[], []]
    for turn in range(WARM_UP + ROUNDS):
        batch = rides.batch()
        for place in (0, 1) if turn % 2 else (1, 0):
            began = time.perf_counter()
            await writers[place].handle(batch)
            seconds[place].append(time.perf_counter() - began)
    for identity in ("few", "many"):
        await _check_counted(pool, identity, WARM_UP + ROUNDS)
    few, many = (BATCH / statistics.median(each[WARM_UP:]) for each in seconds)
    return few, many


async def _check_counted(pool: Pool, identity: str, batches: int) -> None:
    counted = await pool.fetchval(_COUNTED, identity)
    if counted != batches * BATCH:
        raise Unavailable("counter", f"{counted} events of {batches * BATCH} were counted")


async def _rate(
    pool: Pool, store: CounterStore, identity: str, in_force: Documents, rides: "Rides", *, rounds: int = ROUNDS
) -> float:
    """Events a second of a writer that has counted for a while; each identity of the topic has writers of its own."""
    writer = writer_of(pool, store, identity, in_force, OpenRows(OPEN_ROWS))
    batches = [rides.batch() for _ in range(WARM_UP + rounds)]
    for batch in batches[:WARM_UP]:
        await writer.handle(batch)
    began = time.perf_counter()
    for batch in batches[WARM_UP:]:
        await writer.handle(batch)
    seconds = time.perf_counter() - began
    await _check_counted(pool, identity, len(batches))
    return rounds * BATCH / seconds


async def _upserts(url: str, rides: "Rides") -> float:
    """Events a second by the plain way: each event adds to a row for each of its counters."""
    add = "insert into plain_count values ($1, 1) on conflict (key) do update set count = plain_count.count + 1"
    events = [orjson.loads(record.value) for record in rides.batch(PLAIN)]
    connection = await asyncpg.connect(url)
    try:
        await connection.execute("create table plain_count (key text primary key, count bigint not null)")
        statement = await connection.prepare(add)
        began = time.perf_counter()
        for event in events:
            async with connection.transaction():
                for key in (event["member"], f"{event['city']}:{event['vehicle']}", event["country"]):
                    await statement.fetch(key)
        return PLAIN / (time.perf_counter() - began)
    finally:
        await connection.close()
