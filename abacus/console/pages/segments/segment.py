"""One segment: its versions, the campaigns that ask for it, its members, and whether somebody is in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from abacus.console.pages.segments.segment_list import SegmentRow, has_open_members, is_open, row_of
from abacus.console.web.calls import Call
from abacus.console.web.cursor import Rows
from abacus.console.web.faults import PageFault
from abacus.console.web.forms import Form
from abacus.console.web.page import Page
from abacus.console.web.parts import Part
from abacus.core.errors import Refused
from abacus.core.members import fault_of_member
from abacus.engage.campaigns.uses import CampaignUse, campaign_uses
from abacus.people.types.deed import Deed
from abacus.signals.facts.decide.catalog import SEGMENT
from abacus.signals.segments.desk import SegmentDesk
from abacus.signals.segments.types import Segment

_MOST: Final = 100
_LARGEST: Final = 2**31 - 1  # number of a member


@dataclass(frozen=True)
class Looked:
    """Whether a member is in the version."""

    member_id: str
    is_in: bool
    version: int


@dataclass(frozen=True, kw_only=True)
class SegmentPage(Page):
    """`members` is None where they are not open to the person, or nobody is in it any more."""

    template: ClassVar[str] = "segment.html"
    segment: SegmentRow
    is_dropped: bool
    versions: Sequence[SegmentRow]
    campaigns: Part[Sequence[CampaignUse]]
    members: Rows[str] | None
    looked: Looked | None
    may_change: bool


async def segment(call: Call) -> SegmentPage:
    history = await history_of(call)
    latest, member_id = history[0], call.asked("member")
    is_open_here = has_open_members(call, latest) and not latest.dropped
    looked, typed = None, Form({"member": member_id or ""})
    if is_open_here and member_id is not None:
        if fault_of_member(member_id) is not None:
            typed = typed.but(member="That is no member's id.")
        else:
            version, is_in = await call.rooms[SegmentDesk].has(latest.name, member_id)
            looked = Looked(member_id, is_in, version.version)
    return SegmentPage(
        title=latest.name,
        command=f"abacus segments show {latest.name}",
        segment=row_of(latest),
        is_dropped=latest.dropped,
        versions=[row_of(each) for each in history],
        campaigns=await call.part(_campaigns(call, latest.name)),
        members=await _members(call, latest) if is_open_here else None,
        looked=looked,
        may_change=call.may(Deed.PUBLISH_SEGMENTS, latest.country),
        form=typed,
    )


async def history_of(call: Call) -> Sequence[Segment]:
    """The versions of the page's segment that are kept, the latest first. Raises `PageFault` if it is not open to the
    person.
    """
    try:
        history = await call.rooms[SegmentDesk].history(call.request.path_params["segment"])
    except Refused:
        history = []
    if not history or not is_open(call, history[0]):
        raise PageFault("not-found", "No such segment is open to you.")
    return history


async def _campaigns(call: Call, name: str) -> Sequence[CampaignUse]:
    uses = await campaign_uses(call.reading.pool, call.now, SEGMENT.name, name)
    return [each for each in uses if call.may(Deed.SEE, each.country)]


async def _members(call: Call, latest: Segment) -> Rows[str]:
    after = call.asked("after") or "-1"
    if not after.removeprefix("-").isdecimal() or not -1 <= int(after) <= _LARGEST:
        raise PageFault("not-found", "There is no such page of this list.")
    found = await call.rooms[SegmentDesk].page(latest.name, int(after), _MOST)
    return Rows(found.members, call.next_page(str(found.more)) if found.more is not None else None)
