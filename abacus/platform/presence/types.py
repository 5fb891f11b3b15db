"""A process as it describes itself. Pure."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Final, NamedTuple
from uuid import UUID

import orjson

NOTED_EVERY_S: Final = 10.0
GONE_AFTER: Final = timedelta(seconds=60)  # several notes are missing: it was killed, or is cut off from the database


class WorkerNote(NamedTuple):
    """The state of a worker, in the words of `abacus.platform.health.WorkerState`, and its reason."""

    state: str
    detail: str


class CacheNote(NamedTuple):
    """What a process keeps of a route's answers, and what became of those who asked, since it began: by outcome, as
    metrics count them. `stale_s`: how old answers were on the average that were not fresh.
    """

    answers: Mapping[str, int]
    entries: int
    bytes: int
    stale_s: float


class FailureNote(NamedTuple):
    """A row of `queue_failure`: how a queue's last message that made a worker fail did so, when, and how often it had
    come.
    """

    queue: str
    why: str
    at: datetime
    receives: int


class Report(NamedTuple):
    """What a process knows of itself: its workers, the services that it does without, the age in seconds of the oldest
    message of each queue that it receives from, and of its rate cards where it has any; the settings that it was given,
    as they may be told; and its caches of answers, by route.
    """

    workers: Mapping[str, WorkerNote]
    missed: Mapping[str, str]
    queues: Mapping[str, float]
    cards_age_s: float | None
    settings: Mapping[str, str] = MappingProxyType({})
    caches: Mapping[str, CacheNote] = MappingProxyType({})

    @property
    def text(self) -> bytes:
        workers = {name: note._asdict() for name, note in self.workers.items()}
        caches = {route: note._asdict() for route, note in self.caches.items()}
        settings = dict(self.settings)
        return orjson.dumps({**self._asdict(), "workers": workers, "settings": settings, "caches": caches})

    @classmethod
    def of(cls, text: bytes) -> "Report":
        """The report of this version or another: what a later one adds is passed over, what an earlier one lacks is
        empty.
        """
        document: Mapping[str, Any] = orjson.loads(text)
        workers = {name: WorkerNote(each["state"], each["detail"]) for name, each in document["workers"].items()}
        settings = document.get("settings", {})
        caches = {
            route: CacheNote(each["answers"], each["entries"], each["bytes"], each["stale_s"])
            for route, each in document.get("caches", {}).items()
        }
        return cls(workers, document["missed"], document["queues"], document["cards_age_s"], settings, caches)


class ProcessNote(NamedTuple):
    """A row of `worker_process`."""

    process_id: UUID
    host: str
    pid: int
    version: str
    started_at: datetime
    seen_at: datetime
    report: bytes

    def label(self, report: Report) -> str:
        """By which people know it."""
        return f"{'+'.join(report.workers)} {self.host}:{self.pid}"

    def is_gone(self, now: datetime) -> bool:
        """Whether it has been silent for so long that it does not run any more, though nobody saw it end."""
        return now - self.seen_at > GONE_AFTER
