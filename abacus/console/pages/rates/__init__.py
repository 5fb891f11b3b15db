"""The pages of rate cards."""

from typing import Final

from abacus.console.pages.drafts.draft_page import draft_pages
from abacus.console.pages.rates import card_list, rate_draft, rate_quote
from abacus.console.web.routes import form, page
from abacus.people.types.deed import Deed

SERVED: Final = (
    page("/rates", card_list.rates),
    page("/rates/{scope}", card_list.scope),
    form("/rates/{scope}/withdraw", card_list.withdraw, Deed.PUBLISH_RATES, shows=card_list.scope),
    form("/rates/{scope}/restore", card_list.restore, Deed.PUBLISH_RATES, shows=card_list.scope),
    *draft_pages(rate_draft.CARD_DRAFTS),
    page("/rates-quote", rate_quote.quote),
)
