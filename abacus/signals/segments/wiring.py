"""How the segments in use are put together."""

from abacus.platform.announcements import Announced
from abacus.platform.postgres import Pool
from abacus.platform.wiring import Wiring
from abacus.signals.segments.sets import SegmentSets, segment_sets


def segments_in_use(wiring: Wiring, pool: Pool) -> SegmentSets:
    return wiring.keep(segment_sets(pool), on=(Announced.SEGMENTS,))
