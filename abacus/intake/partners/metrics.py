"""The metrics of partners, in one list. Names are stable: dashboards and alerts rely on them."""

from typing import Final

from prometheus_client import Counter, Gauge

# Requests of partners that were not noted, because too many came in a second, or because the database is away.
REQUESTS_NOT_NOTED: Final = Counter("abacus_api_requests_not_noted", "Requests of partners that were not noted")

# Awards that partners requested, by partner and outcome: accepted, replayed, refused.
PARTNER_AWARDS: Final = Counter(
    "abacus_partner_awards", "Awards asked for, by partner and outcome", ["partner", "outcome"]
)

# Tries to tell partners of their awards, by type of message and outcome: delivered, retried (failed, to come again),
# given_up, gone (the receiver answered 410); and unreadable, for an event of the points stream that became no message.
WEBHOOKS: Final = Counter("abacus_webhook_deliveries", "Webhook tries, by type and outcome", ["type", "outcome"])

# Webhook messages that are still to be delivered, and the seconds since the oldest of them was made.
WEBHOOKS_WAITING: Final = Gauge("abacus_webhooks_waiting", "Webhook messages not yet delivered")
WEBHOOKS_OLDEST: Final = Gauge("abacus_webhooks_oldest_seconds", "Age of the oldest webhook message not yet delivered")
