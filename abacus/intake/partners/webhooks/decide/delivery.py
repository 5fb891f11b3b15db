"""A message on its way to its partner. Pure."""

from datetime import datetime
from typing import NamedTuple


class Delivery(NamedTuple):
    """A row of `webhook_delivery` that this process has taken, with the address of its webhook and its secrets
    as they are stored. `attempts` includes the present one; `taken_until` identifies the claim.
    """

    message_id: str
    partner_id: str
    member_id: str
    type: str
    body: str
    attempts: int
    retry_until: datetime
    taken_until: datetime
    url: str
    secret: str
    former_secret: str | None

    @property
    def id(self) -> str:
        return self.message_id

    @property
    def receiver(self) -> str:
        return self.partner_id
