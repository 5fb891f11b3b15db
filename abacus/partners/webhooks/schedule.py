"""What follows from a receiver's answer: done, again later, never again. Pure but for the dice that it is given."""

import random
from datetime import datetime, timedelta
from enum import StrEnum
from http import HTTPStatus
from typing import Final, NamedTuple

from abacus.core.backoff import Backoff

RETRIED_FOR: Final = timedelta(days=3)
BACKOFF: Final = Backoff(first_s=5, longest_s=6 * 3600)


class Answer(NamedTuple):
    """What came of one try: the receiver's status, or none when there was no answer; and the words for people."""

    status: int | None
    detail: str


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
    """After the last of so many tries. The last wait ends when the time is up, so one more try follows it."""
    if answer.status is not None and HTTPStatus.OK <= answer.status < HTTPStatus.MULTIPLE_CHOICES:
        return Verdict(Outcome.DELIVERED)
    if answer.status == HTTPStatus.GONE:
        return Verdict(Outcome.GONE)
    if now >= retry_until:
        return Verdict(Outcome.GIVEN_UP)
    wait = timedelta(seconds=backoff.wait(attempts, rng))
    return Verdict(Outcome.RETRIED, min(now + wait, retry_until))
