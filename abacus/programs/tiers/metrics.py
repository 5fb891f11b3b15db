"""The metrics of tiers, in one list. Names are stable: dashboards and alerts rely on them."""

from typing import Final

from prometheus_client import Counter, Gauge

# Events of the points stream, by their effect on tiers: counted, seen (counted before), ignored (they
# change no earned points), unreadable.
TIER_EVENTS: Final = Counter("abacus_tier_events", "Point events heard by the tier keeper, by outcome", ["outcome"])

# Tiers that the keeper changed, by program, why (the closed list of tiers.keeping.Reason), and from which to which.
TIER_CHANGES: Final = Counter(
    "abacus_tier_changes", "Changes of tier by points", ["program", "reason", "from_tier", "to_tier"]
)

# Events published on the tiers stream; and how long the oldest of the last batch had waited.
TIERS_PUBLISHED: Final = Counter("abacus_tiers_published", "Tier events published")
TIERS_BEHIND: Final = Gauge("abacus_tiers_behind_seconds", "Age of the oldest tier event published now", ["slice"])
