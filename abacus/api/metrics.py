"""The metrics of the API and of every port, in one list. Names are stable: dashboards and alerts rely on them."""

from functools import cache
from typing import Final

from prometheus_client import Counter, Gauge, Histogram

# Requests to the API, by route and status; and how long they took.
REQUESTS: Final = Counter("abacus_api_requests", "API requests, by route and status", ["route", "status"])
REQUEST_SECONDS: Final = Histogram(
    "abacus_api_request_seconds",
    "Duration of API requests, by route",
    ["route"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
)


@cache
def requests_of(route: str, status: int) -> Counter:
    """The metrics of a route with this status. To find them by their labels takes longer than to count one."""
    return REQUESTS.labels(route, str(status))


@cache
def seconds_of(route: str) -> Histogram:
    return REQUEST_SECONDS.labels(route)


# Connections and requests that the server of the API, or of a health port, ended before any route: connections,
# connections_of_address (too many are open), head_too_large, head_too_slow, body_too_large, body_too_slow, framing
# (more of it than content), malformed, pipelined (too many at once), reader_too_slow (of the answer).
API_REFUSED: Final = Counter("abacus_api_refused", "Connections and requests ended before any route", ["reason"])
API_CONNECTIONS: Final = Gauge("abacus_api_connections", "Open connections of callers")
