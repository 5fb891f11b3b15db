"""The metrics of services, in one list. Names are stable: dashboards and alerts rely on them."""

from typing import Final

from prometheus_client import Counter, Histogram

# Calls of services that campaigns ask, by service and outcome (answered, failed, not_asked), and how long those with an
# answer took.
SERVICE_CALLS: Final = Counter("abacus_service_calls", "Calls of external services", ["service", "outcome"])
SERVICE_SECONDS: Final = Histogram(
    "abacus_service_seconds",
    "From asking a service to its answer",
    ["service"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
