"""The metrics of places, in one list. Names are stable: dashboards and alerts rely on them."""

from typing import Final

from prometheus_client import Counter

# Positions that were read, by what became of them: followed, late (older than one that was read before, or than an
# hour), away (of a member whose slice cannot be reached), set_aside.
POSITIONS: Final = Counter("abacus_positions", "Positions of members, by what became of them", ["outcome"])

# Regions that members entered or left, as they were told.
CROSSINGS: Final = Counter("abacus_place_crossings", "Regions that members entered or left", ["what"])

# Positions that partners posted, by outcome: accepted, refused.
POSITIONS_POSTED: Final = Counter("abacus_positions_posted", "Positions posted, by outcome", ["outcome"])
