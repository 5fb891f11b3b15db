"""The segments in use, as a process keeps them: read in the background, and at once when one changes."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Final, NamedTuple, TypeAlias

from abacus.core.errors import Unavailable
from abacus.platform.fresh_copy import Cadence, FreshCopy
from abacus.platform.postgres import Pool
from abacus.signals.segments.numbers import MemberNumbers
from abacus.signals.segments.remembered import Ask, RememberedNumbers
from abacus.signals.segments.store import InUse, SegmentStore
from abacus.signals.segments.types import Held, Members

DEPENDENCY: Final = "segments"
REMEMBERED: Final = 100_000  # members: about 20 MB
USUAL: Final = Cadence(load_within_s=30.0)

Load: TypeAlias = Callable[[Collection[str], Mapping[str, Held]], Awaitable[InUse]]
Pair: TypeAlias = tuple[str, str]  # a segment and a member


class SegmentMoment(NamedTuple):
    """The segments of one moment, and the numbers of the members that were asked for."""

    segments: Mapping[str, Members]
    numbers: Mapping[str, int]

    def contains(self, name: str, member_id: str) -> bool:
        """Whether the segment has the member, whose number was asked for. Raises `LookupError` for a
        segment that is not in use.
        """
        members = self.segments[name]
        number = self.numbers.get(member_id)
        return number is not None and number in members


class SegmentSets(FreshCopy[InUse, Mapping[str, Members]]):
    """Answers which members are in which segments. Segments in use are in memory, and the numbers of the members that
    were asked for last.

    A segment that is not there, or was dropped, has no members.
    """

    def __init__(self, load: Load, ask: Ask, cadence: Cadence = USUAL, *, remembered: int = REMEMBERED) -> None:
        self._names: frozenset[str] = frozenset()
        self._erasures = 0
        self._numbers = RememberedNumbers(ask, most=remembered)

        async def in_use(before: InUse | None) -> InUse:
            return await load(self._names, {each.name: each for each in before.held} if before is not None else {})

        super().__init__(DEPENDENCY, in_use, self._build_sets, cadence)

    def use(self, names: Collection[str]) -> None:
        """From now on these segments are in use, and others no more."""
        if self._names != frozenset(names):
            self._names = frozenset(names)
            self.wake()

    async def look_for(self, member_ids: Collection[str]) -> SegmentMoment:
        """The segments in use, as far as these members are asked for. Raises `Unavailable` when a segment in use was
        never read, or numbers cannot be asked for.
        """
        if self._never_read():
            await self.read_anew()
        segments = self.value()
        return SegmentMoment(segments, await self._numbers.of(member_ids))

    async def look(self, pairs: Collection[Pair]) -> dict[Pair, bool]:
        """Whether each segment has the member; a segment is in use from the first time that it is asked for. Raises
        `Unavailable`.
        """
        self.use(self._names.union(name for name, _ in pairs))
        looking = await self.look_for({member_id for _, member_id in pairs})
        return {pair: looking.contains(*pair) for pair in pairs}

    async def sets(self, names: Collection[str]) -> Mapping[str, Members]:
        """The members of segments by their numbers; the segments are in use from now on. Raises `Unavailable`."""
        self.use(self._names.union(names))
        if self._never_read():
            await self.read_anew()
        segments = self.value()
        return {name: segments[name] for name in names}

    def _never_read(self) -> bool:
        try:
            return not self._names <= self.value().keys()
        except Unavailable:
            return True

    def _build_sets(self, in_use: InUse) -> Mapping[str, Members]:
        """Called when a segment has another version, or members were erased."""
        if in_use.erasures == self._erasures:
            self._numbers.forget_absent()
        else:
            self._numbers.forget()
        self._erasures = in_use.erasures
        return {each.name: each.members for each in in_use.held}


def segment_sets(pool: Pool) -> SegmentSets:
    return SegmentSets(SegmentStore(pool).in_use, MemberNumbers(pool).known)


def looked_up_anew(pool: Pool) -> Callable[[Collection[Pair]], Awaitable[dict[Pair, bool]]]:
    """Each look reads the segments that it asks for: for people, who look seldom."""

    async def look(pairs: Collection[Pair]) -> dict[Pair, bool]:
        return await segment_sets(pool).look(pairs)

    return look
