"""What a receiver's reply by HTTP means. Pure."""

import re
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final, NamedTuple

from abacus.platform.delivery.types import Said

_SECONDS: Final = re.compile(r"[0-9]{1,7}")


class Reply(NamedTuple):
    """What came back: the receiver's status, or none when there was no reply; the words for people; and its
    `Retry-After`, as it sent it.
    """

    status: int | None
    detail: str
    retry_after: str | None = None

    @property
    def said(self) -> Said:
        """Any 2xx accepts; 410 wants nothing more, ever; whatever else comes, or nothing, may go better later."""
        if self.status is not None and HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES:
            return Said.ACCEPTED
        return Said.GONE if self.status == HTTPStatus.GONE else Said.FAILED


def waits_until(retry_after: str | None, now: datetime) -> datetime:
    """Until when a receiver wants to be left alone: so many seconds from now, or a date (RFC 9110, 10.2.3). A value
    that makes no sense means now.
    """
    text = (retry_after or "").strip()
    if _SECONDS.fullmatch(text):
        return now + timedelta(seconds=int(text))
    try:
        until = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return now
    return until if until.tzinfo is not None else now
