"""Segments by a part of their name."""

from collections.abc import Sequence
from typing import Final

from abacus.console.pages.search.finder import Finder, Found
from abacus.console.pages.segments.segment_list import is_open
from abacus.console.web.calls import Call
from abacus.signals.segments.desk import SegmentDesk


async def _segments(call: Call, text: str, most: int) -> Sequence[Found]:
    wanted = text.casefold()
    return [
        Found("segment", each.name, each.name, f"{each.size:,} members", exact=each.name == wanted)
        for each in await call.rooms[SegmentDesk].all()
        if wanted in each.name and is_open(call, each)
    ][:most]


SEGMENTS: Final = Finder("Segments", _segments)
