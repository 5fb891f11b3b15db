"""What a capability tells of its state: topics that it follows, undelivered messages, overdue jobs. Pure values."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, Literal, NamedTuple

LATE: Final = timedelta(hours=26)  # a daily job has had its time


class Problem(NamedTuple):
    """A fault, and what to do."""

    fault: str
    remedy: str


class Follows(NamedTuple):
    """A consumer group of a worker, without the prefix of groups; `topic` is the setting that names the topic."""

    topic: Literal["transactions_topic", "points_topic", "tiers_topic"]
    group: str
    worker: str


class Undelivered(NamedTuple):
    """Messages to the outside that were not delivered: in words, as named figures, and the fault in them, if any."""

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
