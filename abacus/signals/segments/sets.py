"""The segments in use, as a process keeps them: read in the background, and at once when one changes."""

import random
import time
from collections.abc import Awaitable, Callable, Collection, Hashable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from abacus.platform.fresh_copy import FreshCopy
from abacus.signals.segments.remembered import Ask, RememberedNumbers
from abacus.signals.segments.store import InUse
from abacus.signals.segments.types import Held, Members

DEPENDENCY: Final = "segments"
REMEMBERED: Final = 100_000  # members: about 20 MB

Load: TypeAlias = Callable[[Collection[str], Mapping[str, Held]], Awaitable[InUse]]
Pair: TypeAlias = tuple[str, str]  # a segment and a member


class _Erasures(NamedTuple):
    """How many members were erased, ever."""

    so_far: int


_Row: TypeAlias = Held | _Erasures


class Looking(NamedTuple):
    """The segments of one moment, and the numbers of the members that were asked for."""

    segments: Mapping[str, Members]
    numbers: Mapping[str, int]

    def contains(self, name: str, member_id: str) -> bool:
        """Whether the segment has the member, which has to be one of those asked for. Raises `LookupError` for a
        segment that is not in use.
        """
        members = self.segments[name]
        number = self.numbers.get(member_id)
        return number is not None and number in members


class SegmentSets(FreshCopy[_Row, Mapping[str, Members]]):
    """Answers which members are in which segments. Of the segments, only those in use are in memory; of the numbers of
    members, those asked for last.

    A segment that is not there, or was dropped, has no members.
    """

    def __init__(
        self,
        load: Load,
        ask: Ask,
        *,
        remembered: int = REMEMBERED,
        refresh_every_s: float = 10.0,
        load_within_s: float = 30.0,
        look_again_every_s: float = 0.05,
        monotonic: Callable[[], float] = time.monotonic,
        rng: random.Random | None = None,
    ) -> None:
        self._names: frozenset[str] = frozenset()
        self._held: dict[str, Held] = {}
        self._erasures = 0
        self._numbers = RememberedNumbers(ask, most=remembered)
        super().__init__(
            DEPENDENCY,
            lambda: self._in_use(load),
            key=_key,
            build=self._build_sets,
            refresh_every_s=refresh_every_s,
            load_within_s=load_within_s,
            look_again_every_s=look_again_every_s,
            monotonic=monotonic,
            rng=rng,
        )

    def use(self, names: Collection[str]) -> None:
        """From now on these segments are in use, and others no more."""
        if self._names != frozenset(names):
            self._names = frozenset(names)
            self.wake()

    async def look_for(self, member_ids: Collection[str]) -> Looking:
        """The segments in use, as far as these members are asked for. Raises `Unavailable` when a segment in use was
        never read, or numbers cannot be asked for.
        """
        if self._never_read():
            await self.read_anew()
        segments = self.value()
        return Looking(segments, await self._numbers.of(member_ids))

    async def look(self, pairs: Collection[Pair]) -> dict[Pair, bool]:
        """Whether each segment has the member. Raises as `look_for` and `Looking.contains` do."""
        looking = await self.look_for({member_id for _, member_id in pairs})
        return {pair: looking.contains(*pair) for pair in pairs}

    def _never_read(self) -> bool:
        return not self._names <= self._held.keys()

    async def _in_use(self, load: Load) -> list[_Row]:
        held, erasures = await load(self._names, self._held)
        self._held = {each.name: each for each in held}
        return [*held, _Erasures(erasures)]

    def _build_sets(self, rows: Sequence[_Row]) -> Mapping[str, Members]:
        """Called when a segment has another version, or members were erased."""
        (erasures,) = [row.so_far for row in rows if isinstance(row, _Erasures)]
        if erasures == self._erasures:
            self._numbers.forget_absent()
        else:
            self._numbers.forget()
        self._erasures = erasures
        return {row.name: row.members for row in rows if isinstance(row, Held)}


def _key(row: _Row) -> Hashable:
    return row.name if isinstance(row, Held) else None
