"""How the approval of a journey is told: its picture, with the nodes that are new or changed."""

from typing import Final

from abacus.console.decide.journey_picture import compared, picture_of
from abacus.console.pages.approvals.stated_telling import StatedTelling
from abacus.console.pages.journeys.journey_draft import JOURNEY_DRAFTS
from abacus.engage.journeys.decide.journey_form import JOURNEY_FORM
from abacus.engage.journeys.desk import JourneyDesk
from abacus.engage.journeys.kind import JOURNEYS

_WHY: Final = (
    "A journey tells members things and gives them points, so another person looks at exactly this version before"
    " anybody enters it."
)

JOURNEY: Final = StatedTelling(
    JOURNEYS,
    JOURNEY_FORM,
    JourneyDesk,
    why=_WHY,
    drafts=JOURNEY_DRAFTS,
    picture=lambda before, content: picture_of(content, compared(before, content)),
).telling()
