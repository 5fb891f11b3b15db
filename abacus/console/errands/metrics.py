"""The metrics of errands, in one list. Names are stable: dashboards and alerts rely on them."""

from typing import Final

from prometheus_client import Counter, Gauge

# Errands of the console: ended, by kind and state (done, failed); refused to a person who has too many; waiting, and
# for how long the first waits.
ERRANDS: Final = Counter("abacus_errands", "Errands of the console that ended", ["kind", "state"])
ERRANDS_REFUSED: Final = Counter("abacus_errands_refused", "Errands that a person may not ask for now")
ERRANDS_WAITING: Final = Gauge("abacus_errands_waiting", "Errands that wait for a place")
ERRANDS_OLDEST: Final = Gauge("abacus_errands_oldest_seconds", "For how long the first errand waits")
