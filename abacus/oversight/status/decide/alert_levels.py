"""The values above which alerts begin, as docs/operate/monitoring/alerts.yaml has them; a test holds the two together.
Pure.
"""

from collections.abc import Mapping
from typing import Final

TIME_TO_POINTS: Final = "AbacusTimeToPoints"
RELAY_BEHIND: Final = "AbacusRelayBehind"
WEBHOOKS_LATE: Final = "AbacusWebhooksLate"
BEHIND: Final = "AbacusTransactionsBehind"

# In seconds, but for messages that are not read.
ALERT_LEVELS: Final[Mapping[str, int]] = {
    TIME_TO_POINTS: 300,
    RELAY_BEHIND: 300,
    WEBHOOKS_LATE: 86_400,
    BEHIND: 20_000,
    "AbacusAwardsLate": 3600,
    "AbacusRetriesLate": 86_400,
    "AbacusExpiryLate": 21_600,
}

# By the name of the queue, without its prefix: the alert on its oldest message.
OF_QUEUES: Final[Mapping[str, str]] = {
    "award": "AbacusAwardsLate",
    "retry": "AbacusRetriesLate",
    "expiry": "AbacusExpiryLate",
}
