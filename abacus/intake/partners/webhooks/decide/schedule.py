"""What follows from a receiver's answer: done, again later, never again. Pure but for the dice that it is given."""

import random
import re
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import StrEnum
from http import HTTPStatus
from typing import Final, NamedTuple

from abacus.core.backoff import Backoff

RETRIED_FOR: Final = timedelta(days=3)
BACKOFF: Final = Backoff(first_s=5, longest_s=6 * 3600)

_SECONDS: Final = re.compile(r"[0-9]{1,7}")


class Answer(NamedTuple):
    """What came of one try: the receiver's status, or none when there was no answer; the words for people; and its
    `Retry-After`, as it sent it.
    """

    status: int | None
    detail: str
    retry_after: str | None = None


class Outcome(StrEnum):
    """What a try comes to. The list is closed: metrics count by it."""

    DELIVERED = "delivered"
    RETRIED = "retried"
    GIVEN_UP = "given_up"
    GONE = "gone"  # the receiver wants no more messages, this or any


class Verdict(NamedTuple):
    """What is to be done, and when to try again if that is it."""

    outcome: Outcome
    due_at: datetime | None = None


def verdict(
    answer: Answer, now: datetime, *, attempts: int, retry_until: datetime, backoff: Backoff, rng: random.Random
) -> Verdict:
    """After the last of so many tries. The last wait ends when the time is up, so one more try follows it. A receiver
    may ask for a longer wait than ours.
    """
    if answer.status is not None and HTTPStatus.OK <= answer.status < HTTPStatus.MULTIPLE_CHOICES:
        return Verdict(Outcome.DELIVERED)
    if answer.status == HTTPStatus.GONE:
        return Verdict(Outcome.GONE)
    if now >= retry_until:
        return Verdict(Outcome.GIVEN_UP)
    wait = timedelta(seconds=backoff.wait(attempts, rng))
    return Verdict(Outcome.RETRIED, min(max(now + wait, asked_until(answer.retry_after, now)), retry_until))


def asked_until(retry_after: str | None, now: datetime) -> datetime:
    """Until when a receiver asked to be left alone: so many seconds from now, or a date (RFC 9110, 10.2.3). What makes
    no sense asks for nothing.
    """
    text = (retry_after or "").strip()
    if _SECONDS.fullmatch(text):
        return now + timedelta(seconds=int(text))
    try:
        asked = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return now
    return asked if asked.tzinfo is not None else now
