"""A copy of a table, kept fresh in the process: read in the background, served from memory, kept while the table cannot
be read.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Hashable, Sequence
from contextlib import suppress
from typing import Generic, TypeVar

import structlog

from abacus.core.backoff import Backoff
from abacus.core.errors import Unavailable

Row = TypeVar("Row")
Value = TypeVar("Value")

log = structlog.get_logger(__name__)


class FreshCopy(Generic[Row, Value]):
    """Serves the value that `build` makes of the rows of the last reading, and keeps it while reading fails.

    A row that has not changed stays the same object from one reading to the next, and so does the value when no row
    has, so that values that callers derived from it stay valid. `name` is the name of the rows in errors and in the
    log.
    """

    def __init__(
        self,
        name: str,
        load: Callable[[], Awaitable[Sequence[Row]]],
        *,
        key: Callable[[Row], Hashable],
        build: Callable[[Sequence[Row]], Value],
        refresh_every_s: float,
        load_within_s: float,
        look_again_every_s: float,
        monotonic: Callable[[], float] = time.monotonic,
        rng: random.Random | None = None,
    ) -> None:
        self._name = name
        self._load = load
        self._key = key
        self._build = build
        self._refresh_every_s = refresh_every_s
        self._load_within_s = load_within_s
        self._look_again_every_s = look_again_every_s
        self._monotonic = monotonic
        self._rng = rng or random.Random()
        self._backoff = Backoff(longest_s=refresh_every_s)
        self._one_at_a_time = asyncio.Lock()
        self._changed = asyncio.Event()
        self._rows: dict[Hashable, Row] = {}
        self._value: Value | None = None
        self._why_not = "not read yet"
        self._tried_at = float("-inf")
        self._read_at = float("-inf")

    @property
    def age_s(self) -> float:
        """Seconds since the rows were last read; infinite before that."""
        return self._monotonic() - self._read_at

    def value(self) -> Value:
        """The value as last read. Raises `Unavailable` when nothing was ever read."""
        if self._value is None:
            raise Unavailable(self._name, self._why_not)
        return self._value

    async def refresh(self) -> None:
        """Read the rows now. Raises `Unavailable` when that fails, and keeps the copy."""
        async with self._one_at_a_time:
            await self._read()

    async def look_again(self, *, wait: bool = False) -> None:
        """For a caller that misses a row, which may have been written a moment ago.

        Reads at most once in `look_again_every_s`; a call before that gets the copy as it is. With `wait`, it returns
        after a reading that began, or was tried, later than this call. Raises `Unavailable` only while nothing was ever
        read.
        """
        called_at = self._monotonic()
        async with self._one_at_a_time:
            if self._tried_at < called_at:
                too_soon_by_s = self._tried_at + self._look_again_every_s - self._monotonic()
                if wait and too_soon_by_s > 0:
                    await asyncio.sleep(too_soon_by_s)
                if wait or too_soon_by_s <= 0:
                    with suppress(Unavailable):
                        await self._read()
        self.value()

    async def read_anew(self) -> None:
        """For a caller that has to know whether a row is missing: returns after a reading that began later than this
        call. Callers share it, and readings are `look_again_every_s` apart. Raises `Unavailable` when it failed.
        """
        called_at = self._monotonic()
        await self.look_again(wait=True)
        if self._read_at < called_at:
            raise Unavailable(self._name, self._why_not)

    def wake(self) -> None:
        """The rows have changed: `keep_fresh` reads them now rather than later."""
        self._changed.set()

    async def keep_fresh(self) -> None:
        """Read the rows again and again until cancelled, the sooner while it fails for the first few times, and at once
        when they have changed.

        Says once that it began to fail, and once that it recovered.
        """
        failures, lacked = 0, ""
        while True:
            self._changed.clear()
            try:
                await self.refresh()
            except Unavailable as error:
                failures, lacked = failures + 1, error.dependency
                if failures == 1:
                    log.warning("%s cannot be read", self._name, away=error, serving=len(self._rows))
                await self._pause(self._backoff.wait(failures, self._rng))
            else:
                if failures:
                    serving = len(self._rows)
                    log.info("%s can be read again", self._name, after_failures=failures, serving=serving, back=lacked)
                failures = 0
                await self._pause(self._refresh_every_s * self._rng.uniform(0.8, 1.0))

    async def _pause(self, seconds: float) -> None:
        """Waits until it is time to read again, or until the rows have changed. Many changes are read together:
        readings are `look_again_every_s` apart.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._changed.wait()
                await asyncio.sleep(self._tried_at + self._look_again_every_s - self._monotonic())

    async def _read(self) -> None:
        began = self._tried_at = self._monotonic()
        try:
            async with asyncio.timeout(self._load_within_s):
                rows = await self._load()
        except TimeoutError:
            self._why_not = f"not read within {self._load_within_s:g} s"
            raise Unavailable(self._name, self._why_not) from None
        except Unavailable as error:
            self._why_not = error.detail if error.dependency == self._name else str(error)
            raise
        self._read_at = began
        by_key = {self._key(row): self._same(row) for row in rows}
        if self._value is None or by_key != self._rows:
            self._value, self._rows = self._build(list(by_key.values())), by_key

    def _same(self, row: Row) -> Row:
        known = self._rows.get(self._key(row))
        return known if known is not None and known == row else row
