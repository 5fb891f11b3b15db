"""Event sources by a part of their name."""

from typing import Final

from abacus.console.pages.search.finder import document_finder
from abacus.signals.events.kind import SOURCES, SourceDesk

SOURCE_FINDER: Final = document_finder("Event sources", SOURCES, lambda call: call.rooms[SourceDesk])
