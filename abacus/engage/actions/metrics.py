"""The metrics of actions, in one list. Names are stable: dashboards and alerts rely on them."""

from typing import Final

from prometheus_client import Counter, Gauge

# Actions of campaigns that were tried, by receiver and outcome (done, refused, failed); due actions that wait, and
# the seconds since the oldest was due.
CAMPAIGN_ACTIONS: Final = Counter("abacus_campaign_actions", "Actions of campaigns", ["receiver", "outcome"])
CAMPAIGN_ACTIONS_WAITING: Final = Gauge(
    "abacus_campaign_actions_waiting", "Actions of campaigns that are due and not done", ["receiver"]
)
CAMPAIGN_ACTIONS_OLDEST: Final = Gauge(
    "abacus_campaign_actions_oldest_seconds", "Since the oldest action that is not done was due", ["receiver"]
)
