"""The pages of counters."""

from typing import Final

from abacus.console.pages.counters import counters
from abacus.console.web.routes import file, page

SERVED: Final = (
    page("/counters", counters.counters, everywhere=True),
    file("/counters/counts.csv", counters.export, everywhere=True),
    page("/counters/{counter}", counters.counter, everywhere=True),
)
