"""The pages of counters."""

from typing import Final

from abacus.console.pages.counters import counters

SERVED: Final = (*counters.SERVED,)
