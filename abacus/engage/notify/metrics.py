"""The metrics of messages to members, in one list. Names are stable: dashboards and alerts rely on them."""

from typing import Final

from prometheus_client import Counter, Gauge

# Events that members might be told of: entered, known (read before), too_old (not told any more), unreadable.
NOTICES: Final = Counter("abacus_notices", "Events for members, by outcome", ["outcome"])

# Tries to tell members, by channel and outcome: sent, retried (failed, to come again), parked (for a person).
NOTIFICATIONS: Final = Counter(
    "abacus_notifications", "Notification tries, by channel and outcome", ["channel", "outcome"]
)

# Messages that are still to be sent over a channel, and the seconds since the oldest of them was made.
NOTIFICATIONS_WAITING: Final = Gauge("abacus_notifications_waiting", "Notifications not yet sent", ["channel"])
NOTIFICATIONS_OLDEST: Final = Gauge(
    "abacus_notifications_oldest_seconds", "Age of the oldest not yet sent", ["channel"]
)

# What policies of contact were against, by channel, kind of messages (earned, expired, expiring, marketing,
# tier_changed) and cause: messages that are never told (holdout, cap), and notices that wait (quiet_hours, cap).
UNTOLD: Final = Counter("abacus_messages_untold", "Messages never told, by the cause", ["channel", "kind", "cause"])
PUT_OFF: Final = Counter("abacus_messages_put_off", "Notices that wait, by the cause", ["cause"])

# Templates of messages that were rendered, by outcome.
RENDERINGS: Final = Counter("abacus_renderings", "Renderings of templates of messages", ["outcome"])
