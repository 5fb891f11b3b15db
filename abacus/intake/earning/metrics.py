"""The metrics of the calculation, in one list. Names are stable: dashboards and alerts rely on them."""

from typing import Final

from prometheus_client import Counter

# Messages read from the transactions topic or the retry queue, by outcome:
# awarded, ignored (a type that the card does not list), set_aside, deferred (to the retry queue).
TRANSACTIONS: Final = Counter("abacus_transactions", "Messages processed, by outcome", ["worker", "outcome"])

# Transactions that had to wait for a dependency, each time that they went to the retry queue.
RETRIES: Final = Counter("abacus_retries", "Transactions sent to the retry queue, by what was down", ["dependency"])
