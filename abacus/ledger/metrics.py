"""The metrics of the ledger, in one list. Names are stable: dashboards and alerts rely on them."""

from typing import Final

from prometheus_client import Counter, Gauge

# Movements that were requested. Kinds are spend, reserve (a hold), capture, release, adjustment and reversal.
MOVEMENTS: Final = Counter("abacus_movements", "Movements of points, by kind and outcome", ["kind", "outcome"])

# Posting transactions that started again, because another claimed one of their keys or opened one of their accounts.
POSTING_RESTARTS: Final = Counter("abacus_posting_restarts", "Posting transactions that started again")

# Events published on the points stream.
PUBLISHED: Final = Counter("abacus_points_published", "Point events published")

# How long the oldest transfer that the relay published last had waited; 0 when nothing waits.
# A ledger that is not cut is one, called whole.
RELAY_BEHIND: Final = Gauge("abacus_relay_behind_seconds", "Age of what the relay publishes now", ["slice"])

# The generation of a slice that takes rows, and about how many transfers lie in it.
GENERATIONS: Final = Gauge("abacus_ledger_generation", "The generation that takes transfers", ["slice"])
GENERATION_ROWS: Final = Gauge("abacus_ledger_generation_transfers", "Transfers in the generation, about", ["slice"])
