"""A message on its way to its partner, and when it is tried again. Pure."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from abacus.core.backoff import Backoff
from abacus.platform.delivery.types import Lease


class SignedAddress(NamedTuple):
    """The address of a webhook, and its secrets as they are stored."""

    url: str
    secret: str
    former_secret: str | None


class Delivery(NamedTuple):
    """A row of `webhook_delivery` that this process has taken, and its webhook."""

    message_id: str
    partner_id: str
    member_id: str
    type: str
    body: str
    retry_until: datetime
    attempts: int
    lease: Lease
    webhook: SignedAddress

    @property
    def id(self) -> str:
        return self.message_id

    @property
    def receiver(self) -> str:
        return self.partner_id


RETRIED_FOR: Final = timedelta(days=3)
BACKOFF: Final = Backoff(first_s=5, longest_s=6 * 3600)


def retry_until(delivery: Delivery, _now: datetime) -> datetime:
    """The end of trying; it is set when the message is made, and anew when a person sends it again."""
    return delivery.retry_until
