"""The state of things as it was read. A part that could not be read is None. Pure values."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple

from abacus.core.status import Overdue, Undelivered
from abacus.oversight.growth.types import DiskForecast
from abacus.platform.presence.types import FailureNote


class WorkerState(NamedTuple):
    """A worker of a process. A process that is `gone` ended without a word."""

    worker: str
    host: str
    pid: int
    version: str
    state: str
    detail: str
    started_at: datetime
    seen_at: datetime
    gone: bool


class GroupLag(NamedTuple):
    """Messages of a topic that a consumer group has not read."""

    topic: str
    group: str
    worker: str
    messages: int


class QueueState(NamedTuple):
    """Messages of a queue. `oldest_s` is the age of the oldest message that a worker has in hand, or saw last while
    others wait; None where no worker receives from it.
    """

    queue: str
    waiting: int
    in_flight: int
    delayed: int
    oldest_s: float | None
    dead_letters: bool


class RelayState(NamedTuple):
    """Transfers that are not published; the oldest was posted then."""

    waiting: int
    oldest_posted_at: datetime | None


class Without(NamedTuple):
    """Something that is down, and that a process does without."""

    dependency: str
    host: str
    pid: int
    why: str


class Workforce(NamedTuple):
    """What processes say of themselves: the workers; the age in seconds of the oldest rate cards in use, None where no
    process uses any; what processes do without; the last failure of each queue, as far as one was noted in the last 14
    days; and the age of the oldest message of each queue that a worker receives from.
    """

    workers: Sequence[WorkerState]
    cards_age_s: float | None
    without: Sequence[Without] = ()
    failures: Mapping[str, FailureNote] = MappingProxyType({})
    oldest_s: Mapping[str, float] = MappingProxyType({})


class Snapshot(NamedTuple):
    """Everything, at one time; `unknown` says by name why a part could not be read."""

    at: datetime
    workforce: Workforce | None
    lags: Sequence[GroupLag] | None
    queues: Sequence[QueueState] | None
    relay: RelayState | None
    quarantine: Mapping[str, int] | None
    undelivered: Sequence[Undelivered] | None
    overdue: Sequence[Overdue] | None
    unknown: Mapping[str, str]
    sizes: DiskForecast | None = None
