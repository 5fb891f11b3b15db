"""The pages of the books: reports, a month's close, and the proof of the ledger."""

from typing import Final

from abacus.console.pages.finance import month_close, reports, trust

SERVED: Final = (*reports.SERVED, *month_close.SERVED, *trust.SERVED)
