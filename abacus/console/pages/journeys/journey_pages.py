"""What the pages of journeys say of their own."""

from typing import Final

from abacus.console.pages.stated.stated_pages import StatedPages
from abacus.engage.journeys.desk import JourneyDesk
from abacus.engage.journeys.kind import JOURNEYS

PAGES: Final = StatedPages(
    kind=JOURNEYS,
    desk=JourneyDesk,
    title="Journeys",
    about="Members enter, wait, are told and given things, and leave, step by step.",
    told={"nodes": lambda journey: f"{len(journey.nodes):,}"},
)
