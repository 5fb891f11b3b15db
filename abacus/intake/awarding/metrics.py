"""The metrics of awarding, in one list. Names are stable: dashboards and alerts rely on them."""

from typing import Final

from prometheus_client import Counter, Histogram

from abacus.platform.durations import Durations

# Awards that the ledger decided: posted, duplicate, conflict, refused, rejected (over a partner's limit). The source
# is how the award's key begins: txn (a transaction), event (a fixed award), api (a partner); refund (a reversal).
AWARDS: Final = Counter("abacus_awards", "Awards decided by the ledger, by source and outcome", ["source", "outcome"])

# Points of posted awards, by program.
POINTS: Final = Counter("abacus_points_awarded", "Points posted, by program", ["program"])

# Time from the transaction to its points: from `occurred_at` to posted.
TIME_TO_POINTS: Final = Durations(
    "abacus_time_to_points_seconds",
    "From the transaction's time to its posting",
    buckets=(0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3600, 86400),
)

# One posting transaction in Postgres, and how many awards it held.
POSTING_SECONDS: Final = Histogram(
    "abacus_posting_seconds", "Duration of a posting transaction", buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5)
)
POSTING_AWARDS: Final = Histogram(
    "abacus_posting_awards", "Awards in a posting transaction", buckets=(1, 10, 50, 100, 200, 400, 800, 1000)
)
