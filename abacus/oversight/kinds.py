"""Every kind of documents, in the order in which they need each other.

A counter counts events of sources, and a campaign needs a card, counters and downstreams.
"""

from collections.abc import Sequence
from typing import Any, Final

from abacus.documents.kind import DocumentKind
from abacus.engage.campaigns.kind import CAMPAIGNS
from abacus.engage.downstreams.kind import DOWNSTREAMS
from abacus.oversight.closing.kind import JOURNAL_ACCOUNTS
from abacus.pricing.kind import CARDS
from abacus.signals.counters.kind import COUNTERS
from abacus.signals.events.kind import SOURCES

KINDS: Final[Sequence[DocumentKind[Any, Any]]] = (CARDS, SOURCES, COUNTERS, DOWNSTREAMS, CAMPAIGNS, JOURNAL_ACCOUNTS)
