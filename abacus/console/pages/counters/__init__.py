"""The pages of counters."""

from typing import Final

from abacus.console.pages.counters import counters
from abacus.console.pages.counters.counter_draft import COUNTER_DRAFTS
from abacus.console.pages.counters.retirement import retirement
from abacus.console.pages.drafts.draft_page import draft_pages
from abacus.console.pages.forms.form_page import form_pages
from abacus.console.web.routes import file, page
from abacus.signals.counters.kind import COUNTERS

SERVED: Final = (
    page("/counters", counters.counters, everywhere=True),
    file("/counters/counts.csv", counters.export, everywhere=True),
    page("/counters/{counter}", counters.counter, everywhere=True),
    *form_pages("/counters/{counter}/retire", COUNTERS.deed, retirement),
    *draft_pages(COUNTER_DRAFTS),
)
