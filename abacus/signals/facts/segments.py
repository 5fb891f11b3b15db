"""Looks up `segment.NAME`."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Final, TypeAlias

from abacus.signals.facts.decide.segment_sides import SEGMENT
from abacus.signals.facts.reach import AMember
from abacus.signals.facts.types import Found, Wish
from abacus.signals.segments.sets import Pair

# Whether each segment has the member. Raises `Unavailable`.
InSegments: TypeAlias = Callable[[Collection[Pair]], Awaitable[Mapping[Pair, bool]]]


class SegmentFacts:
    """Whether the segment has the member."""

    origin: Final = SEGMENT

    def __init__(self, in_segments: InSegments) -> None:
        self._in_segments = in_segments

    async def load(self, wanted: Sequence[Wish[AMember]]) -> list[Found]:
        pairs = [(side.name, subject.member_id) for subject, side in wanted]
        found = await self._in_segments(set(pairs))
        return [found[pair] for pair in pairs]
