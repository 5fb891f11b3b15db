"""The schedule of attempts to deliver a webhook message. Pure."""

from datetime import datetime, timedelta
from typing import Final

from abacus.core.backoff import Backoff
from abacus.intake.partners.webhooks.decide.delivery import Delivery

RETRIED_FOR: Final = timedelta(days=3)
BACKOFF: Final = Backoff(first_s=5, longest_s=6 * 3600)


def retry_until(delivery: Delivery, _now: datetime) -> datetime:
    """The end of trying; it is set when the message is made, and anew when a person sends it again."""
    return delivery.retry_until
