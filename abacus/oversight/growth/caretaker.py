"""One process of all notes how large tables are, once a day, and deletes rows whose time is over."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

import structlog

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.oversight.growth import sizes
from abacus.oversight.growth.decide.forecast import LOOKS_BACK, forecast
from abacus.oversight.growth.inventory import by_group
from abacus.oversight.growth.metrics import DATABASE_BYTES, FULL_IN, ROWS_SWEPT
from abacus.platform import slices
from abacus.platform.delivery.deliverer import Periodic
from abacus.platform.following.lease import lease
from abacus.platform.postgres import Connection, Pool, passing_failures
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.retention.life import Life
from abacus.platform.retention.sweeper import PAUSE_S, sweep

SIZES_KEPT: Final = timedelta(days=400)
_LEASE: Final = "abacus growth"
_AT_ONCE: Final = 1_000  # items of the quarantine, which may be large
_BEGINS_AFTER_S: Final = 60.0  # so that processes that start together are ready first
_STANDS_BY_S: Final = 60.0
_MEASURES_EVERY_S: Final = 900.0
_SWEEPS_EVERY: Final = timedelta(days=1)
_AGAIN_AFTER: Final = timedelta(hours=1)  # a sweep that failed: it begins anew, and what it reads is large

log = structlog.get_logger(__name__)


class Caretaker:
    """One for each process; the one with the lease takes care. `disk` is how many bytes the disks have."""

    def __init__(
        self,
        pool: Pool,
        clock: Clock,
        lives: Sequence[Life],
        *,
        replayed_kept: timedelta,
        disk: int | None,
        pause_s: float = PAUSE_S,
    ) -> None:
        self._pool = pool
        self._clock = clock
        self._lives = lives
        self._replayed_kept = replayed_kept
        self._disk = disk
        self._pause_s = pause_s
        self._sweeps_after: datetime | None = None

    async def keep(self, *, after_s: float = _BEGINS_AFTER_S, stands_by_s: float = _STANDS_BY_S) -> None:
        """Runs until cancelled. The worker beside it goes on, whatever happens here."""
        await asyncio.sleep(after_s)
        while True:
            try:
                async with passing_failures(), self._pool.acquire() as leading, lease(leading, _LEASE) as is_ours:
                    measuring = Periodic(partial(self.measure, leading), _MEASURES_EVERY_S)
                    while is_ours:
                        await measuring.if_due()
                        await self.sweep_if_due(measuring)
                        await asyncio.sleep(stands_by_s)
            except Unavailable as error:
                log.warning("nobody looks at how tables grow", away=error)
            except Exception:
                log.exception("it failed to look at how tables grow")
            FULL_IN.set(float("inf"))  # another process leads, or will
            await asyncio.sleep(stands_by_s)

    async def measure(self, connection: Connection) -> None:
        """The metrics tell the sizes. The first look of a day notes them. Errors of the driver are raised."""
        today = self._clock.now().astimezone(UTC).date()
        now = await sizes.sizes_on(connection)
        await sizes.note(connection, today, now)
        await sizes.forget(connection, today - SIZES_KEPT)
        seen = forecast(now, await sizes.noted_since(connection, today - LOOKS_BACK), today, self._disk)
        for group, size in by_group(now.tables).items():
            DATABASE_BYTES.labels(group).set(size)
        FULL_IN.set(float("inf") if seen.days_left is None else timedelta(days=seen.days_left).total_seconds())

    async def sweep_if_due(self, measuring: Periodic) -> None:
        """Once a day, and after a start. A sweep may take hours: sizes are told meanwhile, on the connection with the
        lease, so that one who has lost it ends.
        """
        now = self._clock.now()
        if self._sweeps_after is not None and now < self._sweeps_after:
            return
        self._sweeps_after = now + _AGAIN_AFTER
        for each in await slices.slices_of(self._pool):
            for life in self._lives:
                await slices.unless_away(self._pool, self._sweep(each, life, now, measuring))
        await self._forget_replayed(now)
        self._sweeps_after = now + _SWEEPS_EVERY

    async def _sweep(self, slice_: slices.Slice, life: Life, now: datetime, measuring: Periodic) -> None:
        deleted = 0
        async for step in sweep(slice_, life, now, pause_s=self._pause_s):
            ROWS_SWEPT.labels(life.table).inc(step.deleted)
            deleted += step.deleted
            await measuring.if_due()
        if deleted:
            log.info("rows whose time was over are deleted", table=life.table, slice=slice_.number, rows=deleted)

    async def _forget_replayed(self, now: datetime) -> None:
        store, last = QuarantineStore(self._pool, self._clock), _AT_ONCE
        while last == _AT_ONCE:
            last = await store.forget_replayed(now - self._replayed_kept, _AT_ONCE)
            ROWS_SWEPT.labels("quarantine").inc(last)
