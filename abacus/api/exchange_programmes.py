"""The routes by which people see programmes of exchanges, submit them, and pause, resume and end them."""

from typing import Final

from abacus.api.answer_examples import PROGRAMME_DOCUMENT
from abacus.api.document_routes import DocumentRoutes
from abacus.exchanges.desk import ProgrammeDesk
from abacus.exchanges.kind import PROGRAMMES

_ROUTES: Final = DocumentRoutes(
    PROGRAMMES,
    ProgrammeDesk,
    manual="docs/country-teams/exchange-programmes.md",
    example=PROGRAMME_DOCUMENT,
    wrong_state="programme-state",
)

router = _ROUTES.router()
