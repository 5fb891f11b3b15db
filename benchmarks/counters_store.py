"""The stores of counters: rows saved and loaded, sums, and what they cost the server and its caller."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import psutil

from abacus.core.clock import SystemClock
from abacus.platform.migrations import migrate
from abacus.platform.postgres import LOOKUPS_BY_KEY, Pool, open_pool
from abacus.signals.counters.decide.grid import slot_of
from abacus.signals.counters.store.cassandra import schema
from abacus.signals.counters.store.cassandra.counters import CassandraCounterStore
from abacus.signals.counters.store.cassandra.session import Address, Session
from abacus.signals.counters.store.port import CounterStore
from abacus.signals.counters.store.postgres import PostgresCounterStore
from abacus.signals.counters.types import Count, Grain, Row, RowKey, SlotRange
from benchmarks.report import Figure
from benchmarks.services import cassandra_alone, postgres_alone

_DAY_S: Final = 86_400
_KEYS_POSTGRES: Final = 50_000
_KEYS_CASSANDRA: Final = 10_000
_SAVED_KEYS: Final = 5_000  # of one save: three rows each, in the quarter, the hour and the day
_WRITERS: Final = 8
_LOOKUPS: Final = 200  # of one read
_SINGLY: Final = 5_000
_GRAINS: Final = ((Grain.QUARTER, 900), (Grain.HOUR, 3600), (Grain.DAY, _DAY_S))

_SIZE: Final = """
select sum(pg_total_relation_size(inhrelid))::bigint from pg_inherits where inhparent = 'counter_row'::regclass
"""
_ONE: Final = """
insert into counter_row as r (key, slot, writer, count, upto) values ($1, $2, $3, 1, $4)
on conflict (key, slot, writer) do update set count = r.count + 1, upto = excluded.upto
"""


class Timed(NamedTuple):
    """So many things in so many seconds, with the CPU seconds of the server and of this process."""

    done: int
    seconds: float
    server_s: float
    caller_s: float

    def figure(self, name: str, unit: str, ratio: str = "") -> Figure:
        server, caller = (each / self.done * 1e6 for each in (self.server_s, self.caller_s))
        cpu = f"CPU {server:.1f} µs of the server, {caller:.1f} of the caller"
        return Figure(name, f"{self.done / self.seconds:,.0f} {unit}/s", f"{ratio}; {cpu}" if ratio else cpu)


class _Bench:
    """Rows of one store, and the process of its server."""

    def __init__(self, store: CounterStore, server: psutil.Process, keys: int) -> None:
        self.store = store
        self._server = server
        self._keys = keys
        self._now = int(SystemClock().now().timestamp()) // _DAY_S * _DAY_S + _DAY_S // 2

    def rows(self, upto: int, writer: int = 1) -> Iterator[Sequence[Row]]:
        """Every key's three rows, as many as one save has at a time."""
        slots = [slot_of(grain, self._now // length * length) for grain, length in _GRAINS]
        for begin in range(0, self._keys, _SAVED_KEYS):
            yield [
                Row(RowKey(f"34.1:rain_drops:city:{number}", slot, writer), Count(upto, upto), self._now + 9 * _DAY_S)
                for number in range(begin, min(begin + _SAVED_KEYS, self._keys))
                for slot in slots
            ]

    def ranges(self) -> Iterator[Sequence[SlotRange]]:
        """A range of three days of each key, tiled: two days, and hours and quarters at its ends."""
        middle = self._now
        tiles = (
            (Grain.DAY, middle - _DAY_S, middle + _DAY_S),
            (Grain.HOUR, middle - 12 * 3600, middle),
            (Grain.HOUR, middle, middle + 12 * 3600),
            (Grain.QUARTER, middle - 3600, middle),
            (Grain.QUARTER, middle, middle + 3600),
        )
        for begin in range(0, self._keys, _LOOKUPS):
            yield [
                SlotRange(f"34.1:rain_drops:city:{number}", slot_of(grain, first), slot_of(grain, end))
                for number in range(begin, min(begin + _LOOKUPS, self._keys))
                for grain, first, end in tiles
            ]

    async def timed(self, act: Callable[[Any], Awaitable[object]], parts: Iterable[Sequence[object]]) -> Timed:
        parts = list(parts)
        server_s, caller_s, began = self._server_s(), time.process_time(), time.perf_counter()
        for part in parts:
            await act(part)
        seconds = time.perf_counter() - began
        return Timed(sum(map(len, parts)), seconds, self._server_s() - server_s, time.process_time() - caller_s)

    def _server_s(self) -> float:
        """The CPU of the server so far. Processes that end are counted by the one that started them."""
        spent = 0.0
        for process in (self._server, *self._server.children()):
            times = process.cpu_times()
            spent += times.user + times.system
        ended = self._server.cpu_times()
        return spent + ended.children_user + ended.children_system


async def measure(directory: Path) -> list[Figure]:
    return [
        *[figure async for figure in _postgres(_folder(directory, "postgres"))],
        *[figure async for figure in _cassandra(_folder(directory, "cassandra"))],
    ]


def _folder(directory: Path, name: str) -> Path:
    folder = directory / name
    folder.mkdir()
    return folder


async def _postgres(home: Path) -> AsyncIterator[Figure]:
    async with postgres_alone(home) as url:
        await migrate(url)
        pool = await open_pool(url, size=2, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
        try:
            bench = _Bench(PostgresCounterStore(pool, SystemClock()), _server_of(home), _KEYS_POSTGRES)
            saved = await bench.timed(bench.store.save, bench.rows(1))
            singly = await bench.timed(_each(pool), [next(bench.rows(1, writer=0))[:_SINGLY]])
            ratio = saved.done / saved.seconds / (singly.done / singly.seconds)
            yield saved.figure("counters in Postgres, rows saved", "rows", f"{ratio:.1f} times one upsert a row")
            async for figure in _figures(bench, "Postgres"):
                yield figure
            size = await pool.fetchval(_SIZE) / (3 * _KEYS_POSTGRES * _WRITERS)
            yield Figure("… on the disk, with the index", f"{size:.0f} bytes a row")
        finally:
            await pool.close()


async def _cassandra(home: Path) -> AsyncIterator[Figure]:
    async with cassandra_alone(home) as port, Session(Address(("127.0.0.1",), port)) as session:
        await schema.make(session, "bench", "datacenter1", 1)
        store = CassandraCounterStore(session, "bench", SystemClock())
        bench = _Bench(store, _server_of(home), _KEYS_CASSANDRA)
        await bench.timed(store.save, bench.rows(1, writer=0))  # Java compiles what is used often
        saved = await bench.timed(store.save, bench.rows(1))
        yield saved.figure("counters in Cassandra, rows saved", "rows")
        async for figure in _figures(bench, "Cassandra"):
            yield figure


async def _figures(bench: _Bench, where: str) -> AsyncIterator[Figure]:
    again = await bench.timed(bench.store.save, bench.rows(2))
    yield again.figure("… saved again, counted further", "rows")
    late = await bench.timed(bench.store.save, bench.rows(1))
    yield late.figure("… saved late, by a writer that was thought dead", "rows")
    for writer in range(2, _WRITERS + 1):
        for rows in bench.rows(1, writer):
            await bench.store.save(rows)
    loaded = await bench.timed(bench.store.load, ([row.key for row in rows] for rows in bench.rows(1)))
    yield loaded.figure("… loaded", "rows")
    sums = await bench.timed(bench.store.sums, bench.ranges())
    yield sums.figure(f"… sums over {_WRITERS} writers, {_LOOKUPS} lookups of 5 ranges at a time, {where}", "ranges")


def _each(pool: Pool) -> Callable[[Sequence[Row]], Awaitable[None]]:
    async def act(rows: Sequence[Row]) -> None:
        for key, count, _ in rows:
            await pool.execute(_ONE, *key, count.upto)

    return act


def _server_of(home: Path) -> psutil.Process:
    return psutil.Process(int((home / "pid").read_text(encoding="ascii")))
