"""The metrics of facts, in one list. Names are stable: dashboards and alerts rely on them."""

from typing import Final

from prometheus_client import Counter

# Events that went to the retry queue of campaigns, because a counter that a rule asks had not come to them.
CAMPAIGN_COUNTERS_BEHIND: Final = Counter(
    "abacus_campaign_counters_behind", "Events that waited for a counter in vain", ["topic"]
)
