"""How the approval of an offer is told."""

from typing import Final

from abacus.console.pages.approvals.stated_telling import StatedTelling
from abacus.console.pages.offers.offer_draft import OFFER_DRAFTS
from abacus.engage.offers.decide.offer_form import OFFER_FORM
from abacus.engage.offers.desk import OfferDesk
from abacus.engage.offers.kind import OFFERS

_WHY: Final = "An offer gives money or points away, so another person looks at exactly this version before it holds."

OFFER: Final = StatedTelling(OFFERS, OFFER_FORM, OfferDesk, why=_WHY, drafts=OFFER_DRAFTS).telling()
