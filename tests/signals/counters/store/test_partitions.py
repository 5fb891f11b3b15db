"""The partitions of Postgres: made when they are needed, dropped when their time is over, by the application's role."""

import asyncio
from datetime import timedelta

import asyncpg
import pytest

from abacus.core.errors import LineStopped
from abacus.platform import slices
from abacus.platform.migrations import make_sandbox
from abacus.platform.postgres import Pool, open_pool
from abacus.platform.sandbox import SCHEMA
from abacus.platform.slices import slice_map_of, slice_of
from abacus.platform.slices.layout import WHOLE
from abacus.signals.counters.decide.grid import slot_of
from abacus.signals.counters.store.postgres import PostgresCounterStore
from abacus.signals.counters.types import Count, Grain
from tests.signals.counters.store.rows import DAY_S, NOW, around, quarter, row
from tests.support.fixed_clock import FixedClock
from tests.support.slices import SLICES

NOON = quarter(0)
FIRST = slot_of(Grain.QUARTER, int(NOW.timestamp()) // (2 * DAY_S) * 2 * DAY_S)


async def tables(pool: Pool, schema: str | None = None) -> set[str]:
    """Of the slice that has the rows of "a", unless another schema is named."""
    home = schema or (await slice_of(pool, "a")).schema or WHOLE
    return {
        each[0]
        for each in await pool.fetch(
            "select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid"
            " join pg_class p on p.oid = i.inhparent and p.relname = 'counter_row'"
            " where c.relnamespace = $1::regnamespace",
            home,
        )
    }


async def keep(pool: Pool, first: int, end: int) -> None:
    """Makes a partition where the rows of "a" are, as a version with other lengths would."""
    slice_map = await slice_map_of(pool)
    number = slice_map.slice_of("a") if slice_map.slices > 1 else None
    await pool.execute("select counter_partition_keep($1, $2, 2000000000, $3)", first, end, number)


async def test_the_next_day_is_made_ahead(postgres_store: PostgresCounterStore, pool: Pool, clock: FixedClock) -> None:
    await postgres_store.tend_once()
    ahead = await tables(pool)
    clock.set(NOW + timedelta(hours=23))
    tomorrow = int(clock.now().timestamp()) // 900 * 900
    await postgres_store.save(
        [row("a", slot_of(grain, tomorrow), 1, 1, 1, keep_s=2 * DAY_S) for grain in (Grain.QUARTER, Grain.HOUR)]
    )
    assert await tables(pool) == ahead


async def test_a_partition_goes_when_its_last_row_may_go(
    postgres_store: PostgresCounterStore, pool: Pool, clock: FixedClock
) -> None:
    await postgres_store.save([row("a", NOON, 1, 1, 1, keep_s=2 * DAY_S), row("a", NOON, 2, 1, 1, keep_s=9 * DAY_S)])
    name = f"counter_row_{FIRST}"
    for days, there in ((3, True), (9, True), (12, False)):
        clock.set(NOW + timedelta(days=days))
        await postgres_store.tend_once()
        assert (name in await tables(pool)) is there
    assert list(await postgres_store.sums([around("a", NOON)])) == [0]


async def test_the_clock_of_a_process_alone_drops_nothing(
    postgres_store: PostgresCounterStore, pool: Pool, clock: FixedClock
) -> None:
    await postgres_store.save([row("a", NOON, 1, 1, 1, keep_s=100_000 * DAY_S)])
    clock.set(NOW + timedelta(days=200_000))
    await postgres_store.tend_once()
    assert f"counter_row_{FIRST}" in await tables(pool)


async def test_rows_come_into_a_partition_that_was_dropped_meanwhile(
    postgres_store: PostgresCounterStore, pool: Pool
) -> None:
    """The clock of this writer is behind that of the process that drops."""
    first, second = row("a", NOON, 1, 1, 1, keep_s=DAY_S), row("a", NOON, 2, 1, 1, keep_s=DAY_S)
    await postgres_store.save([first])
    await PostgresCounterStore(pool, FixedClock(NOW + timedelta(days=12))).tend_once()
    assert await postgres_store.load([first.key]) == {}
    await postgres_store.save([second])
    assert await postgres_store.load([second.key]) == {second.key: Count(1, 1)}


async def test_writers_make_a_partition_at_once(pool: Pool) -> None:
    stores = [PostgresCounterStore(pool, FixedClock(NOW)) for _ in range(6)]
    await asyncio.gather(*(store.save([row("a", NOON, number, 1, 1)]) for number, store in enumerate(stores)))
    assert list(await stores[0].sums([around("a", NOON)])) == [6]


async def test_another_version_had_partitions_of_another_length(
    postgres_store: PostgresCounterStore, pool: Pool
) -> None:
    await keep(pool, quarter(-2), quarter(2))
    rows = [row("a", quarter(number), 1, 1, 1) for number in range(-20, 20)]
    await postgres_store.save(rows)
    assert await postgres_store.load([each.key for each in rows]) == {each.key: each.count for each in rows}


async def test_a_writer_of_an_old_plan_looks_again(postgres_store: PostgresCounterStore, pool: Pool) -> None:
    """It knows of no partition, and the one that it would make overlaps one that was just made."""
    await postgres_store.save([row("a", quarter(-1_000), 1, 1, 1)])
    await keep(pool, quarter(-2), quarter(2))
    await postgres_store.save([row("a", NOON, 1, 1, 1)])
    assert list(await postgres_store.sums([around("a", NOON)])) == [1]


async def test_too_many_partitions_stop_the_writer(pool: Pool) -> None:
    for number in range(3):
        await keep(pool, number, number + 1)
    store = PostgresCounterStore(pool, FixedClock(NOW), most_partitions=4)
    await store.save([row("a", NOON, 1, 1, 1)])
    with pytest.raises(LineStopped, match="shorten the `keep`"):
        await store.save([row("a", quarter(500), 1, 1, 1)])


async def test_each_schema_has_its_own(database_url: str, pool: Pool) -> None:
    await make_sandbox(database_url)
    beside = await open_pool(database_url, size=1, settings={"search_path": SCHEMA})
    try:
        store = PostgresCounterStore(beside, FixedClock(NOW))
        await store.save([row("a", NOON, 1, 1, 1)])
        assert list(await store.sums([around("a", NOON)])) == [1]
        assert (await tables(pool), await tables(pool, SCHEMA)) == (set(), {f"counter_row_{FIRST}"})
    finally:
        await beside.close()


@pytest.mark.parametrize(
    "statement",
    [
        "delete from counter_row",
        "update counter_row set slot = slot + 1",
        "truncate counter_row",
        "drop table counter_row",
        f"drop table counter_row_{FIRST}",
        f"select * from counter_row_{FIRST}",
        f"alter table counter_row detach partition counter_row_{FIRST}",
        "create table more partition of counter_row for values from (0) to (96)",
        "update counter_partition set until = 0",
        "delete from counter_partition",
        "insert into counter_partition values (0, 96, 0)",
    ],
)
async def test_what_the_application_may_not(postgres_store: PostgresCounterStore, pool: Pool, statement: str) -> None:
    await postgres_store.save([row("a", NOON, 1, 1, 1)])
    async with pool.acquire(schema=(await slice_of(pool, "a")).schema) as connection:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(statement)


@pytest.mark.parametrize(
    ("first", "end"),
    [(-1, 5), (5, 5), (5, 4), (0, 366 * 96 + 1), ((1 << 28) - 1, (1 << 28) + 1)],
)
async def test_no_partition_of_anything_else(pool: Pool, first: int, end: int) -> None:
    with pytest.raises(asyncpg.InvalidParameterValueError):
        await keep(pool, first, end)


async def test_who_reads_for_long_keeps_nobody_waiting_behind_a_drop(
    postgres_store: PostgresCounterStore, pool: Pool
) -> None:
    """A drop that waits for a reader would hold up all who come after it; also at the server of a slice."""
    slice_map = await slice_map_of(pool)
    number = slice_map.slice_of("a") if slice_map.slices > 1 else None
    await postgres_store.save([row("a", NOON, 1, 1, 1)])
    await pool.execute("select counter_partition_keep(0, 96, 0, $1)", number)
    async with slices.at(pool, "a") as reading, reading.transaction():
        await reading.execute("select count(*) from counter_row")
        with pytest.raises(asyncpg.LockNotAvailableError):
            await pool.execute("select counter_partition_drop(0, 1, $1)", number, timeout=30)
    assert await pool.fetchval("select counter_partition_drop(0, 1, $1)", number)


@pytest.mark.parametrize("number", [-1, SLICES if SLICES > 1 else 0])
async def test_no_partition_of_a_slice_that_is_not_there(pool: Pool, number: int) -> None:
    for statement in ("counter_partition_keep(0, 96, 0, $1)", "counter_partition_drop(0, 0, $1)"):
        with pytest.raises(asyncpg.InvalidParameterValueError, match="no slice of this ledger"):
            await pool.execute(f"select {statement}", number)
