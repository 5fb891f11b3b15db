"""A copy of a table, kept fresh in the process: read in the background, served from memory, kept while the table cannot
be read.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, Generic, NamedTuple, TypeVar

import structlog

from abacus.core.backoff import Backoff
from abacus.core.errors import Unavailable

Rows = TypeVar("Rows")
Value = TypeVar("Value")

_RNG: Final = random.Random()

log = structlog.get_logger(__name__)


class Cadence(NamedTuple):
    """How often a copy is read, and how long a reading may take. Readings that callers and announcements ask for are
    `look_again_every_s` apart.
    """

    refresh_every_s: float = 10.0
    load_within_s: float = 5.0
    look_again_every_s: float = 0.05
    monotonic: Callable[[], float] = time.monotonic
    rng: random.Random = _RNG


USUAL: Final = Cadence()


class FreshCopy(Generic[Rows, Value]):
    """Serves the value that `build` makes of the rows of the last reading, and keeps it while reading fails.

    The value stays the same object while the rows stay equal, so that values that callers derived from it stay valid.
    `load` gets the rows of the last reading, and need not read again what they hold. `name` is the name of the rows in
    errors and in the log.
    """

    def __init__(
        self,
        name: str,
        load: Callable[[Rows | None], Awaitable[Rows]],
        build: Callable[[Rows], Value],
        cadence: Cadence = USUAL,
    ) -> None:
        self._name = name
        self._load = load
        self._build = build
        self._cadence = cadence
        self._monotonic = cadence.monotonic
        self._backoff = Backoff(longest_s=cadence.refresh_every_s)
        self._one_at_a_time = asyncio.Lock()
        self._changed = asyncio.Event()
        self._rows: Rows | None = None
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
                too_soon_by_s = self._tried_at + self._cadence.look_again_every_s - self._monotonic()
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
                    log.warning("%s cannot be read", self._name, away=error, serving=self._value is not None)
                await self._pause(self._backoff.wait(failures, self._cadence.rng))
            else:
                if failures:
                    log.info("%s can be read again", self._name, after_failures=failures, back=lacked)
                failures = 0
                await self._pause(self._cadence.refresh_every_s * self._cadence.rng.uniform(0.8, 1.0))

    async def _pause(self, seconds: float) -> None:
        """Waits until it is time to read again, or until the rows have changed. Many changes are read together:
        readings are `look_again_every_s` apart.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._changed.wait()
                await asyncio.sleep(self._tried_at + self._cadence.look_again_every_s - self._monotonic())

    async def _read(self) -> None:
        began = self._tried_at = self._monotonic()
        try:
            async with asyncio.timeout(self._cadence.load_within_s):
                rows = await self._load(self._rows)
        except TimeoutError:
            self._why_not = f"not read within {self._cadence.load_within_s:g} s"
            raise Unavailable(self._name, self._why_not) from None
        except Unavailable as error:
            self._why_not = error.detail if error.dependency == self._name else str(error)
            raise
        self._read_at = began
        if self._value is None or rows != self._rows:
            self._value, self._rows = self._build(rows), rows
