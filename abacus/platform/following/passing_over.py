"""Followers of a topic pass over slices whose servers are away, and come back to them.

Once something of a slice stays behind, everything of it does, because an account's events are in order. The offsets are
not committed beyond it. When the server is there again the topic is read again from there: what was done for the others
is known and changes nothing.
"""

import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from math import inf
from operator import attrgetter
from typing import Any, Final, Protocol, TypeVar

import structlog

from abacus.platform import slices
from abacus.platform.following.topic import read_records
from abacus.platform.kafka.reader import Record, StartAgain
from abacus.platform.postgres import Pool
from abacus.platform.slices import Slice, slice_map_of

Thing = TypeVar("Thing")
Result = TypeVar("Result")

_LOOK_EVERY_S: Final = 1.0
_MEMBER_OF: Final = attrgetter("member_id")

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

    async def split(
        self,
        things: Iterable[Thing],
        work: Callable[[Slice, Sequence[Thing]], Coroutine[Any, Any, Result]],
        *,
        member_of: Callable[[Thing], str] = _MEMBER_OF,
        patience_s: float | None = slices.PATIENCE_S,
    ) -> Sequence[Result]:
        """What comes of the things, each done in its member's slice. Things of slices that are passed over, from now on
        or since before, are left out. Raises `Unavailable` when more is away.
        """
        slice_map = await slice_map_of(self._pool)
        kept = await self.kept(things, member_of=member_of)
        found = await slices.split(self._pool, kept, work, member_of=member_of, patience_s=patience_s)
        for number in {slice_map.slice_of(member_of(thing)) for thing in found.waiting}:
            self._numbers.add(number)
            log.warning("events stay behind", why=f"slice {number} is away, or takes longer than others")
        return found.done

    @property
    def numbers(self) -> frozenset[int]:
        """Those of the slices."""
        return frozenset(self._numbers)

    @property
    def passes(self) -> bool:
        """Whether it passes over any slice."""
        return bool(self._numbers)

    async def kept(self, things: Iterable[Thing], *, member_of: Callable[[Thing], str] = _MEMBER_OF) -> list[Thing]:
        """The things of slices that are not passed over."""
        slice_map = await slice_map_of(self._pool)
        return [thing for thing in things if slice_map.slice_of(member_of(thing)) not in self._numbers]

    async def reached(self) -> list[Slice]:
        """The slices that are not passed over."""
        return [each for each in await slices.slices_of(self._pool) if each.number not in self._numbers]

    async def find(self) -> bool:
        """Passes over slices whose servers are away from now on; whether there are any others than before. Raises
        `Unavailable` when the coordinator is away.
        """
        if not await slices.some_are_away(self._pool):
            return False
        in_order = await slices.slices_of(self._pool)
        away = {each.number for each in in_order if not await each.is_there()}
        new, self._numbers = away - self._numbers, self._numbers | away
        for number in sorted(new):
            log.warning("members stay behind", why=f"slice {number} is away")
        return bool(new)

    async def look(self) -> None:
        """Raises `StartAgain` when the server of a slice that is passed over is there again."""
        if not self._numbers or time.monotonic() - self._looked_at < self._look_every_s:
            return
        self._looked_at = time.monotonic()
        in_order = await slices.slices_of(self._pool)
        for number in self._numbers:
            if await in_order[number].is_there():
                self._numbers.clear()
                raise StartAgain(f"the server of slice {number} is back")

    async def behind(self, records: Sequence[Record], read: Callable[[bytes], OfMember | None]) -> Sequence[Record]:
        """The records that stay behind."""
        if not self._numbers:
            return ()
        slice_map = await slice_map_of(self._pool)
        return [
            record
            for record in records
            for heard in read_records([record], read).values
            if slice_map.slice_of(heard.member_id) in self._numbers
        ]
