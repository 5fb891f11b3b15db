"""The routes by which people see offers, submit them, and pause, resume and end them."""

from typing import Final

from abacus.api.answer_examples import OFFER_DOCUMENT
from abacus.api.document_routes import DocumentRoutes
from abacus.engage.offers.desk import OfferDesk
from abacus.engage.offers.kind import OFFERS

_ROUTES: Final = DocumentRoutes(
    OFFERS,
    OfferDesk,
    manual="docs/country-teams/offers.md",
    example=OFFER_DOCUMENT,
    wrong_state="offer-state",
)

router = _ROUTES.router()
