"""One journey: a version of it as a picture with the members at its nodes, and what may be done to this version."""

from dataclasses import dataclass
from typing import ClassVar

from abacus.console.decide.journey_picture import NO_MARKS, Counts, Marks, Picture, picture_of
from abacus.console.pages.journeys.journey_pages import PAGES
from abacus.console.pages.stated.stated_pages import ShownVersion
from abacus.console.web.calls import Call
from abacus.console.web.page import Page
from abacus.console.web.parts import Part
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.report import Glance
from abacus.engage.journeys.desk import JourneyDesk
from abacus.engage.journeys.kind import JOURNEYS


@dataclass(frozen=True, kw_only=True)
class JourneyPage(Page):
    """A version of one journey. Members of all its versions are counted."""

    template: ClassVar[str] = "journey.html"
    shown: ShownVersion
    members: Part[Glance]
    picture: Picture


async def journey(call: Call) -> JourneyPage:
    history = await PAGES.history(call)
    record = PAGES.shown(call, history)
    name = record.document.name
    members = await call.part(call.rooms[JourneyDesk].glance(name))
    return JourneyPage(
        title=name,
        command=f"abacus journeys report {name}",
        shown=await PAGES.version(call, history, record),
        members=members,
        picture=picture_of(JOURNEYS.to_document(record.document), _marks(record.document, members.value)),
    )


def _marks(of: Journey, members: Glance | None) -> Marks:
    """How many are at each node, once anybody has entered."""
    if members is None or not members.entered:
        return NO_MARKS
    counts = {
        name: Counts(found.waiting, found.passed) if (found := members.nodes.get(node.number)) else Counts(0, 0)
        for name, node in of.nodes.items()
    }
    return Marks(counts=counts)
