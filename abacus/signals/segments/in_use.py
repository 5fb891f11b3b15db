"""Segments that are taken into use when somebody first asks for them."""

from collections.abc import Collection, Mapping

from abacus.platform.postgres import Pool
from abacus.signals.segments.numbers import MemberNumbers
from abacus.signals.segments.sets import Pair, SegmentSets
from abacus.signals.segments.store import SegmentStore


class SegmentsInUse:
    """Keeps every segment in memory that was asked for once."""

    def __init__(self, pool: Pool) -> None:
        self.sets = SegmentSets(SegmentStore(pool).in_use, MemberNumbers(pool).known)
        self._names: frozenset[str] = frozenset()

    async def look(self, pairs: Collection[Pair]) -> Mapping[Pair, bool]:
        """Whether each segment has the member. Raises `Unavailable`."""
        names = {name for name, _ in pairs}
        if not names <= self._names:
            self._names |= names
            self.sets.use(self._names)
        return await self.sets.look(pairs)
