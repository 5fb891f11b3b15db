"""How long and how often a notification is tried before it is parked. Pure."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from abacus.core.backoff import Backoff
from abacus.engage.notify.decide.notification import Turn

BACKOFF: Final = Backoff(first_s=2, longest_s=900)


def failing_for(park_after: timedelta) -> Callable[[Turn, datetime], datetime]:
    """The time since the first failure, not since the message: a message that waited for its turn still has all its
    time.
    """

    def retry_until(turn: Turn, now: datetime) -> datetime:
        return (turn.notification.failing_since or now) + park_after

    return retry_until
