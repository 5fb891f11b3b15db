"""The segments: how many members each has, who changed it last, and the campaigns that ask for it."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from abacus.console.decide.segment_words import DONE
from abacus.console.web.calls import Call
from abacus.console.web.page import Page
from abacus.engage.campaigns.uses import campaign_uses
from abacus.people.types.deed import Deed
from abacus.signals.facts.decide.catalog import SEGMENT
from abacus.signals.segments.desk import SegmentDesk
from abacus.signals.segments.types import Segment


@dataclass(frozen=True)
class SegmentRow:
    """A version of a segment. `country` is None for all countries."""

    name: str
    version: int
    country: str | None
    size: int
    did: str
    changed_at: datetime
    changed_by: str
    campaigns: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class SegmentsPage(Page):
    """The segments that are open to the person, by name."""

    template: ClassVar[str] = "segments.html"
    segments: Sequence[SegmentRow]
    may_make: bool


async def segments(call: Call) -> SegmentsPage:
    found = [each for each in await call.rooms[SegmentDesk].all() if is_open(call, each)]
    campaigns = defaultdict[str, dict[str, None]](dict)
    for use in await campaign_uses(call.reading.pool, call.now, SEGMENT.name):
        if call.may(Deed.SEE, use.country):
            campaigns[use.thing][use.name] = None
    return SegmentsPage(
        title="Segments",
        command="abacus segments list",
        segments=[row_of(each, list(campaigns.get(each.name, ()))) for each in found],
        may_make=call.may_somewhere(Deed.PUBLISH_SEGMENTS),
    )


def is_open(call: Call, segment: Segment) -> bool:
    """That it is there, and how large it is: a segment of all countries may be in the rules of each."""
    return segment.country is None or call.may(Deed.SEE, segment.country)


def has_open_members(call: Call, segment: Segment) -> bool:
    """Who is in it."""
    return call.may(Deed.SEE, segment.country)


def row_of(segment: Segment, campaigns: Sequence[str] = ()) -> SegmentRow:
    return SegmentRow(
        segment.name,
        segment.version,
        segment.country,
        segment.size,
        DONE.get(segment.how, segment.how),
        segment.created_at,
        segment.created_by,
        campaigns,
    )
