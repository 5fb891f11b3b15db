"""Followers of a topic pass over slices whose servers are away, and come back to them.

Once something of a slice stays behind, everything of it does, because an account's events are in order. The offsets are
not committed beyond it. When the server is there again the topic is read again from there: what was done for the others
is known and changes nothing.
"""

import time
from collections.abc import Awaitable, Callable, Sequence
from math import inf
from typing import Final, Protocol, TypeVar

import structlog

from abacus.platform.following.topic import read_records
from abacus.platform.kafka.reader import Record, StartAgain
from abacus.platform.postgres import Pool
from abacus.platform.slices.sliced import is_there, slicing_of, unless_away

Result = TypeVar("Result")

_LOOK_EVERY_S: Final = 1.0

log = structlog.get_logger(__name__)


class OfMember(Protocol):
    """What is heard of one member."""

    @property
    def member_id(self) -> str: ...


class PassedOver:
    """The slices that one follower passes over."""

    def __init__(self, pool: Pool, *, look_every_s: float = _LOOK_EVERY_S) -> None:
        self._pool = pool
        self._look_every_s = look_every_s
        self._numbers: set[int] = set()
        self._looked_at = -inf

    async def unless(self, number: int, work: Callable[[], Awaitable[Result]]) -> Result | None:
        """What comes of the work in that slice; None when it is passed over, from now on or since before. Raises
        `Unavailable` when more is away.
        """
        if number in self._numbers:
            return None
        done = await unless_away(self._pool, work())
        if done is None:
            self._numbers.add(number)
            log.warning("events stay behind", why=f"the server of slice {number} is away")
        return done

    async def look(self) -> None:
        """Raises `StartAgain` when the server of a slice that is passed over is there again."""
        if not self._numbers or time.monotonic() - self._looked_at < self._look_every_s:
            return
        self._looked_at = time.monotonic()
        for number in self._numbers:
            if await is_there(self._pool, number):
                self._numbers.clear()
                raise StartAgain(f"the server of slice {number} is back")

    async def behind(self, records: Sequence[Record], read: Callable[[bytes], OfMember | None]) -> Sequence[Record]:
        """Those of the records that stay behind."""
        if not self._numbers:
            return ()
        slicing = await slicing_of(self._pool)
        return [
            record
            for record in records
            for heard in read_records([record], read).values
            if slicing.slice_of(heard.member_id) in self._numbers
        ]
