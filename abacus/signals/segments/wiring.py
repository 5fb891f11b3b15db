"""How the segments in use are put together."""

from abacus.platform.announcements import Announced
from abacus.platform.postgres import Pool
from abacus.platform.wiring import Wiring
from abacus.signals.segments.in_use import SegmentsInUse


def segments_in_use(wiring: Wiring, pool: Pool) -> SegmentsInUse:
    segments = SegmentsInUse(pool)
    wiring.keep(segments.sets, on=(Announced.SEGMENTS,))
    return segments
