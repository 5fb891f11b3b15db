"""The routes by which people see journeys, submit them, and pause, resume and end them."""

from typing import Final

from abacus.api.answer_examples import JOURNEY_DOCUMENT
from abacus.api.document_routes import DocumentRoutes
from abacus.engage.journeys.desk import JourneyDesk
from abacus.engage.journeys.kind import JOURNEYS

_ROUTES: Final = DocumentRoutes(
    JOURNEYS,
    JourneyDesk,
    manual="docs/country-teams/journeys.md",
    example=JOURNEY_DOCUMENT,
    wrong_state="journey-state",
)

router = _ROUTES.router()
