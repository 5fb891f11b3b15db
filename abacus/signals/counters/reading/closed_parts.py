"""The sums of closed parts, as they are kept in a process, and in the cache that processes share."""

from typing import Final, TypeAlias

from abacus.platform.reading.decide.lifetimes import Lifetimes
from abacus.platform.reading.part_cache import PartCache
from abacus.platform.reading.types import Codec, Route
from abacus.signals.counters.reading.decide.kept import PARTS_KEPT
from abacus.signals.counters.types import SlotRange

COUNTS: Final = "counts"

_ROOM: Final = 300  # bytes for a part, with what its key takes
_OF_A_PART: Final = 200

ClosedParts: TypeAlias = PartCache[SlotRange, int]

# For at least half of the time, at random: parts that were read together are not read together again.
_LIFETIMES: Final = Lifetimes(PARTS_KEPT.total_seconds(), jitter=0.5)
_WRITTEN: Final = Codec[int](write=str, read=int)


def closed_parts(most: int) -> Route[SlotRange, int]:
    """So many, about. Nothing is kept until somebody sets a share."""
    return Route[SlotRange, int](
        COUNTS, _LIFETIMES, most * _ROOM, size_of=lambda *_: _OF_A_PART, share=0, codec=_WRITTEN
    )
