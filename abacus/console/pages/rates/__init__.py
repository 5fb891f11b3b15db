"""The pages of rate cards."""

from typing import Final

from abacus.console.pages.rates import card_list, rate_draft, rate_quote

SERVED: Final = (*card_list.SERVED, *rate_draft.SERVED, *rate_quote.SERVED)
