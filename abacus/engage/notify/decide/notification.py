"""A notification that is due: a message on its way to a member over one channel. Pure."""

from datetime import datetime
from typing import NamedTuple


class Notification(NamedTuple):
    """A row of `notification` that this process has taken. `attempts` includes the attempt at hand and identifies the
    claim; `parts` is the news of the message as JSON; `due_at` is when it was due.
    """

    member_id: str
    message_id: str
    locale: str
    parts: bytes
    created_at: datetime
    attempts: int
    failing_since: datetime | None
    due_at: datetime


class Turn(NamedTuple):
    """A notification, and the moment at which the channel's pace lets it start."""

    notification: Notification
    start_at: datetime

    @property
    def id(self) -> str:
        return self.notification.message_id

    @property
    def receiver(self) -> str:
        return self.notification.member_id

    @property
    def attempts(self) -> int:
        return self.notification.attempts
