"""What follows from a try: sent, again later, or parked with its reason. Pure but for the dice that it is given."""

import random
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple

from abacus.core.backoff import Backoff

BACKOFF: Final = Backoff(first_s=2, longest_s=900)


class Said(StrEnum):
    """What the channel said."""

    SENT = "sent"
    FAILED = "failed"  # perhaps it goes better later
    REFUSED = "refused"  # never again: the message itself is at fault


class Answer(NamedTuple):
    """What came of one try, with the words for people."""

    said: Said
    detail: str = ""


class Outcome(StrEnum):
    """What a try comes to. The list is closed: metrics count by it."""

    SENT = "sent"
    RETRIED = "retried"
    PARKED = "parked"


class Verdict(NamedTuple):
    """What is to be done, when to try again if that is it, and why."""

    outcome: Outcome
    due_at: datetime | None = None
    reason: str | None = None


def verdict(
    answer: Answer,
    now: datetime,
    *,
    attempts: int,
    failing_since: datetime | None,
    park_after: timedelta,
    rng: random.Random,
    backoff: Backoff = BACKOFF,
) -> Verdict:
    """After the last of so many tries. The time runs from the first failure, not from the message: one that had to wait
    for its turn has all of it. The last wait ends when the time is up, so one more try follows it.
    """
    if answer.said is Said.SENT:
        return Verdict(Outcome.SENT)
    give_up_at = (failing_since or now) + park_after
    if answer.said is Said.REFUSED or (failing_since is not None and now >= give_up_at):
        return Verdict(Outcome.PARKED, reason=answer.detail)
    wait = timedelta(seconds=backoff.wait(attempts, rng))
    return Verdict(Outcome.RETRIED, min(now + wait, give_up_at), answer.detail)
