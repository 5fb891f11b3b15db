"""The pages of counters."""

from typing import Final

from abacus.console.pages.counters import counters
from abacus.console.pages.counters.counter_draft import COUNTER_DRAFTS
from abacus.console.pages.drafts.draft_page import draft_pages
from abacus.console.web.routes import file, page

SERVED: Final = (
    page("/counters", counters.counters, everywhere=True),
    file("/counters/counts.csv", counters.export, everywhere=True),
    page("/counters/{counter}", counters.counter, everywhere=True),
    *draft_pages(COUNTER_DRAFTS),
)
