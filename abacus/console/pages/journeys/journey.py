"""One journey: a version of it as a picture and as sentences, and what may be done to this version."""

from dataclasses import dataclass
from typing import ClassVar

from abacus.console.decide.journey_picture import Picture, picture_of
from abacus.console.pages.journeys.journey_pages import PAGES
from abacus.console.pages.stated.stated_pages import ShownVersion
from abacus.console.web.calls import Call
from abacus.console.web.page import Page
from abacus.engage.journeys.kind import JOURNEYS


@dataclass(frozen=True, kw_only=True)
class JourneyPage(Page):
    """A version of one journey."""

    template: ClassVar[str] = "journey.html"
    shown: ShownVersion
    picture: Picture


async def journey(call: Call) -> JourneyPage:
    history = await PAGES.history(call)
    record = PAGES.shown(call, history)
    name = record.document.name
    return JourneyPage(
        title=name,
        command=f"abacus journeys show {name}",
        shown=await PAGES.version(call, history, record),
        picture=picture_of(JOURNEYS.to_document(record.document)),
    )
