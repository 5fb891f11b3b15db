"""A message on its way to its partner. Pure."""

from datetime import datetime
from typing import NamedTuple


class Delivery(NamedTuple):
    """A row of `webhook_delivery` that this process has taken, with the address and the secrets of its webhook.
    `attempts` includes the present one; `taken_until` identifies the claim.
    """

    message_id: str
    partner_id: str
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

    @property
    def secrets(self) -> tuple[str, ...]:
        """All valid secrets."""
        return (self.secret,) if self.former_secret is None else (self.secret, self.former_secret)
