"""The keeper opens the next generation when the last is full. It closes each generation that was left: a filter tells
of its keys.

Each step can be broken off and is done again: until a generation is closed, its keys are looked up by its index. What
writes is short, because the relay publishes nothing beyond a transaction that has written and is still open.
"""

import json
from collections.abc import Sequence
from typing import Any, Final

import structlog

from abacus.core.clock import Clock
from abacus.ledger.decide.key_filter import KeyFilter, looked
from abacus.ledger.metrics import GENERATION_ROWS, GENERATIONS
from abacus.platform.cluster.placement import having_rows
from abacus.platform.following.leader import Leader
from abacus.platform.health import WorkerHealth
from abacus.platform.postgres import LONG_S, Connection, Pool, pages, passing_failures
from abacus.platform.slices import Slice, slices_of
from abacus.platform.sql import Statement

_LEASE: Final = "abacus generations"
_IDLE_S: Final = 10.0
_STORED_AT_ONCE: Final = 256  # parts of a filter

_LAST: Final = "select max(number) from generation"
_LEFT: Final = "select number from generation where left_at is not null and closed_at is null order by number limit 1"
_OPEN: Final = Statement("select generation_open(:next, :now, :of_slice)")
_CLOSE: Final = Statement("select generation_close(:number, :now, :transfers, :claims, :of_slice)")
_FORGET: Final = Statement("delete from key_filter where generation = :number")
_STORED: Final = ("generation", "part", "bits")

log = structlog.get_logger(__name__)


class GenerationKeeper:
    """For all slices. A generation is full with about `most` transfers."""

    def __init__(self, pool: Pool, clock: Clock, *, most: int) -> None:
        self._pool = pool
        self._clock = clock
        self._most = most

    def leader(self, pool: Pool, health: WorkerHealth) -> Leader:
        return Leader(pool, _LEASE, self.step, health, idle_s=_IDLE_S)

    async def step(self, connection: Connection) -> int:
        """How many generations were opened and closed. Raises `Unavailable`."""
        done = 0
        for slice_ in await slices_of(self._pool):
            done += await self.open_next(slice_, connection) + await self.close_one(slice_, connection)
        return done

    async def open_next(self, slice_: Slice, connection: Connection) -> bool:
        """Whether the last generation was full, and the next one was opened."""
        async with passing_failures():
            async with slice_.within() as here:
                last = await here.fetchval(_LAST)
                rows = await _about(here, f"transfer_{last}")
            GENERATIONS.labels(str(slice_.number)).set(last)
            GENERATION_ROWS.labels(str(slice_.number)).set(rows)
            if rows < self._most:
                return False
            is_open: bool = await connection.fetchval(
                *_OPEN(next=last + 1, now=self._clock.now(), of_slice=_numbered(slice_))
            )
        if is_open:
            log.info("a generation was opened", generation=last + 1, slice=slice_.number, rows_before=rows)
        return is_open

    async def close_one(self, slice_: Slice, connection: Connection) -> bool:
        """Whether there was a generation to close, and it is closed now."""
        async with passing_failures():
            async with slice_.within() as here:
                number = await here.fetchval(_LEFT)
            if number is None:
                return False
            async with slice_.within() as here:
                transfers, claims, key_filter = await _read(here, number)
            await _store(slice_, number, key_filter)
            place = _numbered(slice_)
            is_closed: bool = await connection.fetchval(
                *_CLOSE(number=number, now=self._clock.now(), transfers=transfers, claims=claims, of_slice=place)
            )
        if is_closed:
            log.info("a generation was closed", generation=number, slice=slice_.number, transfers=transfers)
        return is_closed


async def _read(connection: Connection, number: int) -> tuple[int, int, KeyFilter]:
    """The generation's transfers and claims, and the filter of its keys."""
    transfers = await connection.fetchval(f"select count(*) from transfer_{number}", timeout=LONG_S)
    claims = await connection.fetchval(f"select count(*) from claim_{number}", timeout=LONG_S)
    key_filter = KeyFilter.for_keys(claims)
    async for page in pages(connection, f"select key from claim_{number}"):
        key_filter.add(looked([row["key"] for row in page]))
    return transfers, claims, key_filter


async def _store(slice_: Slice, number: int, key_filter: KeyFilter) -> None:
    """In short transactions; nobody reads it before the generation is closed."""
    parts = key_filter.parts()
    for first in range(0, len(parts), _STORED_AT_ONCE):
        async with slice_.within() as connection:
            if first == 0:
                await connection.execute(*_FORGET(number=number))
            rows = _rows(number, first, parts[first : first + _STORED_AT_ONCE])
            await connection.copy_records_to_table("key_filter", records=rows, columns=_STORED)


def _rows(number: int, first: int, parts: Sequence[bytes]) -> Sequence[tuple[int, int, bytes]]:
    return [(number, place, bits) for place, bits in enumerate(parts, first)]


async def _about(connection: Connection, table: str) -> int:
    """About how many rows it has, as the planner reckons: by its pages, and by how full they were lately."""
    name = (await having_rows(connection, (table,)))[table]
    plan: Any = json.loads(await connection.fetchval(f"explain (format json) select from {name}"))
    return int(plan[0]["Plan"]["Plan Rows"])


def _numbered(slice_: Slice) -> int | None:
    return None if slice_.schema is None else slice_.number
