"""A notification that is due: a message on its way to a member over one channel. Pure."""

from datetime import datetime
from typing import NamedTuple

from abacus.platform.delivery.types import Lease


class Notification(NamedTuple):
    """A notification that this process has taken, and the moment at which the channel's pace lets it start. `parts` is
    the news of the message as JSON.
    """

    member_id: str
    message_id: str
    locale: str
    parts: bytes
    created_at: datetime
    failing_since: datetime | None
    start_at: datetime
    attempts: int
    lease: Lease

    @property
    def id(self) -> str:
        return self.message_id

    @property
    def receiver(self) -> str:
        return self.member_id
