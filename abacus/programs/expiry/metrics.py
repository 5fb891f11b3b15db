"""The metrics of expiry, in one list. Names are stable: dashboards and alerts rely on them."""

from typing import Final

from prometheus_client import Counter

# Accounts of the expiry queue, by outcome: expired, skipped (active again, or nothing left to lose).
EXPIRED: Final = Counter("abacus_expired", "Accounts taken from the expiry queue, by outcome", ["outcome"])

# Points that lapsed, by program.
EXPIRED_POINTS: Final = Counter("abacus_points_expired", "Points that lapsed, by program", ["program"])
