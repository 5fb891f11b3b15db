"""Counters by a part of their name."""

from typing import Final

from abacus.console.pages.search.finder import document_finder
from abacus.signals.counters.kind import COUNTERS as KIND

COUNTERS: Final = document_finder("Counters", KIND, lambda call: call.reading.counters)
