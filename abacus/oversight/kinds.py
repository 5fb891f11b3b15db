"""Every kind of documents, in the order in which they need each other.

A counter counts events of sources; offers and campaigns need a card, counters and downstreams, offers also categories;
a reward needs a card, downstreams and offers, and a campaign may grant both. A journey needs what campaigns need, and
them. A programme of exchanges needs a card, counters and downstreams.
"""

from collections.abc import Sequence
from typing import Any, Final

from abacus.documents.kind import DocumentKind
from abacus.engage.campaigns.kind import CAMPAIGNS
from abacus.engage.categories.kind import CATEGORIES
from abacus.engage.downstreams.kind import DOWNSTREAMS
from abacus.engage.journeys.kind import JOURNEYS
from abacus.engage.notify.kind import CONTACT_POLICIES
from abacus.engage.offers.kind import OFFERS
from abacus.engage.rewards.kind import REWARDS
from abacus.exchanges.kind import PROGRAMMES
from abacus.oversight.closing.kind import JOURNAL_ACCOUNTS
from abacus.pricing.kind import CARDS
from abacus.signals.counters.kind import COUNTERS
from abacus.signals.events.kind import SOURCES
from abacus.signals.places.kind import MAPS

KINDS: Final[Sequence[DocumentKind[Any, Any]]] = (
    CARDS,
    SOURCES,
    COUNTERS,
    DOWNSTREAMS,
    CATEGORIES,
    CONTACT_POLICIES,
    MAPS,
    OFFERS,
    REWARDS,
    CAMPAIGNS,
    JOURNEYS,
    PROGRAMMES,
    JOURNAL_ACCOUNTS,
)
