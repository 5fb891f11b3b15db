"""What a capability tells of its state: topics that it follows, undelivered messages, overdue jobs. Pure values."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, Literal, NamedTuple

LATE: Final = timedelta(hours=26)  # a daily job has had its time


class Cause(StrEnum):
    """What kind of thing is wrong."""

    WORKER_AWAY = "worker-away"
    WORKER_STOPPED = "worker-stopped"
    WORKER_WAITING = "worker-waiting"
    WITHOUT = "without"
    CARDS_OLD = "cards-old"
    LAG = "lag"
    DEAD_LETTERS = "dead-letters"
    QUEUE_OLD = "queue-old"
    UNPUBLISHED = "unpublished"
    QUARANTINE = "quarantine"
    UNDELIVERED = "undelivered"
    NEEDS_SOMEBODY = "needs-somebody"
    OVERDUE = "overdue"
    DISK = "disk"


class Problem(NamedTuple):
    """A fault, and what to do. Faults of one cause about one thing, such as a worker, are one to people; `since` is
    None where nobody knows.
    """

    fault: str
    remedy: str
    cause: Cause = Cause.UNDELIVERED
    about: str = ""
    since: datetime | None = None


class Follows(NamedTuple):
    """A consumer group of a worker, without the prefix of groups; `topic` is the setting that names the topic."""

    topic: Literal["transactions_topic", "points_topic", "tiers_topic"]
    group: str
    worker: str


class Undelivered(NamedTuple):
    """Messages to the outside that were not delivered, or what else waits: in words, as named figures, and the fault in
    it, if any.
    """

    kind: str
    told: str
    figures: Mapping[str, int | datetime | None]
    problem: Problem | None


class Overdue(NamedTuple):
    """A job that should have run."""

    job: str
    country: str | None
    detail: str
    command: str
