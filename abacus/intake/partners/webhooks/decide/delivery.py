"""A message on its way to its partner. Pure."""

from datetime import datetime
from typing import NamedTuple

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
