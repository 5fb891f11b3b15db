"""One journey: a version of it as a picture with the members at its nodes, and what may be done to this version."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Final

from abacus.console.decide.journey_picture import NO_MARKS, Counts, Marks, Picture, picture_of
from abacus.console.pages.journeys.journey_enter import takes_in_by_hand
from abacus.console.pages.journeys.journey_pages import PAGES
from abacus.console.pages.stated.stated_pages import ShownVersion
from abacus.console.web.calls import Call
from abacus.console.web.changes import changes
from abacus.console.web.page import Events, Page
from abacus.console.web.parts import Part
from abacus.documents.decide.states import State
from abacus.documents.stated import Stated
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.report import Glance
from abacus.engage.journeys.desk import JourneyDesk
from abacus.engage.journeys.kind import JOURNEYS
from abacus.people.types.deed import Deed

_TAKES_IN: Final = frozenset({State.SCHEDULED, State.RUNNING, State.PAUSED})  # now, or later


@dataclass(frozen=True, kw_only=True)
class JourneyPage(Page):
    """A version of one journey. Members of all its versions are counted. `live` says where a browser hears that the
    counts have changed, as long as they may.
    """

    template: ClassVar[str] = "journey.html"
    shown: ShownVersion
    members: Part[Glance]
    picture: Picture
    live: str | None
    takes_in_by_hand: bool
    may_move_members: bool


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
        live=f"{PAGES.path}/{name}/live" if _may_change(call, history, members.value) else None,
        takes_in_by_hand=any(each.in_force and takes_in_by_hand(call, each.document) for each in history),
        may_move_members=_may_move(call, history, members.value),
    )


async def live(call: Call) -> Events:
    """An event whenever the counts of a journey have changed, as long as the person may look."""
    await PAGES.history(call)

    async def look() -> Glance | None:
        history = await PAGES.history(call)
        members = await call.rooms[JourneyDesk].glance(history[-1].document.name)
        return members if _may_change(call, history, members) else None

    return Events(changes(call, look))


def _may_move(call: Call, history: Iterable[Stated[Journey]], members: Glance | None) -> bool:
    """Whether somebody is inside another version than that in force, and the person may move it there."""
    to = next((each.document for each in history if each.in_force), None)
    if to is None or members is None or not call.may(Deed.EDIT_JOURNEYS, to.country):
        return False
    return any(inside > 0 for version, inside in members.versions.items() if version != to.version)


def _may_change(call: Call, history: Iterable[Stated[Journey]], members: Glance | None) -> bool:
    """Whether somebody may enter, or is inside."""
    takes_in = any(each.state(call.now) in _TAKES_IN for each in history)
    return takes_in or members is None or members.inside > 0


def _marks(of: Journey, members: Glance | None) -> Marks:
    """How many are at each node, once anybody has entered."""
    if members is None or not members.entered:
        return NO_MARKS
    counts = {
        name: Counts(found.waiting, found.passed) if (found := members.nodes.get(node.number)) else Counts(0, 0)
        for name, node in of.nodes.items()
    }
    return Marks(counts=counts)
