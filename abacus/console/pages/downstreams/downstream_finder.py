"""Downstreams by a part of their name."""

from typing import Final

from abacus.console.pages.search.finder import document_finder
from abacus.engage.downstreams.desk import DownstreamDesk
from abacus.engage.downstreams.kind import DOWNSTREAMS

DOWNSTREAM_FINDER: Final = document_finder("Downstreams", DOWNSTREAMS, lambda call: call.rooms[DownstreamDesk])
