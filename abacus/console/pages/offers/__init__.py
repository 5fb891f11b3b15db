"""The pages of offers."""

from typing import Final

from abacus.console.pages.drafts.draft_page import draft_pages
from abacus.console.pages.offers import offer, offer_codes, offer_invitations, offer_preview
from abacus.console.pages.offers.offer_draft import OFFER_DRAFTS
from abacus.console.pages.offers.offer_pages import PAGES
from abacus.console.pages.offers.offer_report import REPORT
from abacus.console.web.routes import form, page
from abacus.people.types.deed import Deed

SERVED: Final = (
    page("/offers", PAGES.listed),
    page(REPORT.path, REPORT.page),
    page("/offers/{name}", offer.offer),
    page("/offers-preview", offer_preview.of_all),
    page("/offers/{name}/preview", offer_preview.of_one),
    form("/offers/{name}/move", PAGES.move, Deed.EDIT_OFFERS, shows=offer.offer),
    form("/offers/{name}/invite", offer_invitations.invite, Deed.EDIT_OFFERS, shows=offer.offer, takes_files=True),
    form("/offers/{name}/codes/load", offer_codes.load, Deed.EDIT_OFFERS, shows=offer.offer, takes_files=True),
    form("/offers/{name}/codes/make", offer_codes.make, Deed.EDIT_OFFERS, shows=offer.offer),
    form("/offers/{name}/codes/withdraw", offer_codes.withdraw, Deed.EDIT_OFFERS, shows=offer.offer),
    *draft_pages(OFFER_DRAFTS),
)
