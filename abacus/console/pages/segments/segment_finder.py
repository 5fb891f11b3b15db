"""Segments by a part of their name."""

from collections.abc import Iterable
from typing import Final

from abacus.console.pages.search.finder import Found, name_finder
from abacus.console.pages.segments.segment_list import is_open
from abacus.console.web.calls import Call
from abacus.signals.segments.desk import SegmentDesk


async def _segments(call: Call) -> Iterable[Found]:
    every = await call.rooms[SegmentDesk].all()
    return [Found("segment", each.name, each.name, f"{each.size:,} members") for each in every if is_open(call, each)]


SEGMENTS: Final = name_finder("Segments", _segments)
