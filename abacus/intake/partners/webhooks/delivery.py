"""A message on its way to its receiver. Pure."""

from datetime import datetime
from typing import NamedTuple

from abacus.intake.partners.webhooks.decide.message import MessageType


class Delivery(NamedTuple):
    """A message that one worker has taken, with all that it takes to send it. `attempts` counts this one too."""

    message_id: str
    partner_id: str
    type: MessageType
    body: str
    attempts: int
    retry_until: datetime
    taken_until: datetime
    url: str
    secrets: tuple[str, ...]


class Waiting(NamedTuple):
    """How much is still to be delivered, and since when the oldest of it waits."""

    messages: int
    oldest: datetime | None
