"""The meaning of a receiver's HTTP reply. Pure."""

import re
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final, NamedTuple

from abacus.platform.delivery.types import Said

MOST_SHOWN: Final = 200  # bytes that are kept of a receiver's words, for people to read
_SECONDS: Final = re.compile(r"[0-9]{1,7}")


class Reply(NamedTuple):
    """The receiver's status, or None without a reply; the words for people; its `Retry-After`, as it sent it; the
    beginning of its body in one line, as far as it was read; and the whole body, where that was asked for.
    """

    status: int | None
    detail: str
    retry_after: str | None = None
    begins: str = ""
    body: bytes = b""

    @property
    def said(self) -> Said:
        """Any 2xx accepts; 410 refuses all messages for ever; after any other reply, or none, a later attempt may
        succeed.
        """
        if self.status is not None and HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES:
            return Said.ACCEPTED
        return Said.GONE if self.status == HTTPStatus.GONE else Said.FAILED


def brief(text: str) -> str:
    """One line of words that a receiver chose or caused, of whatever length they were."""
    begins = text[:MOST_SHOWN]
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in begins).split())
    return line.encode("utf-8", "replace")[:MOST_SHOWN].decode("utf-8", "ignore")


def waits_until(retry_after: str | None, now: datetime) -> datetime:
    """The earliest time for the next attempt: seconds from now, or a date (RFC 9110, 10.2.3). A malformed value means
    now.
    """
    text = (retry_after or "").strip()
    if _SECONDS.fullmatch(text):
        return now + timedelta(seconds=int(text))
    try:
        until = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return now
    return until if until.tzinfo is not None else now
