"""The metrics of offers, in one list. Names are stable: dashboards and alerts rely on them."""

from typing import Final

from prometheus_client import Counter, Gauge

# Questions about offers, by outcome: whole, degraded (offers may be missing, because a part cannot be read now).
OFFER_QUESTIONS: Final = Counter("abacus_offer_questions", "Questions about offers that were answered", ["outcome"])

# The offers that this process holds, and offers whose rules do not fit what is published any more: these hold nowhere.
OFFERS_IN_FORCE: Final = Gauge("abacus_offers_in_force", "Offers in force")
OFFERS_UNFIT: Final = Gauge("abacus_offers_unfit", "Offers in force whose rule does not fit what is published")
