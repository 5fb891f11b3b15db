"""The health of each worker of this process, for the readiness probe and the log."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final, NamedTuple

import structlog

from abacus.core.errors import Unavailable

_LONGEST: Final = 300  # characters of a fault that are told

log = structlog.get_logger(__name__)


class WorkerState(StrEnum):
    """A `ready` worker works; a `starting` or `waiting` one will work by itself; a `stopped` one needs a person."""

    STARTING = "starting"
    READY = "ready"
    WAITING = "waiting"
    STOPPED = "stopped"


class Failure(NamedTuple):
    """The last message that a worker could not handle, though everything that it needs was there."""

    why: str
    at: datetime
    receives: int


@dataclass(slots=True)
class WorkerHealth:
    """The state of one worker. Each change is logged once, however often it is reported. `failures`: by queue."""

    name: str
    state: WorkerState = WorkerState.STARTING
    detail: str = ""
    was_ready: bool = False
    failures: dict[str, Failure] = field(default_factory=dict)

    def failed(self, queue: str, error: Exception, receives: int) -> None:
        """A message of the queue made the worker fail. The first line names the fault; more could name a member."""
        first = next(iter(str(error).splitlines()), "")[:_LONGEST]
        why = f"{type(error).__name__}: {first}" if first else type(error).__name__
        self.failures[queue] = Failure(why, datetime.now(UTC), receives)

    def ready(self) -> None:
        if self.state is not WorkerState.READY:
            back = {"back": self.detail.partition(":")[0]} if self.state is WorkerState.WAITING else {}
            log.info("worker ready", worker=self.name, after=str(self.state), **back)
        self.state, self.detail, self.was_ready = WorkerState.READY, "", True

    def recovered(self) -> None:
        """The dependency is back: the worker works again, or goes on starting."""
        if self.was_ready:
            self.ready()
        else:
            self.state, self.detail = WorkerState.STARTING, ""

    def waiting(self, error: Unavailable) -> None:
        if self.state is not WorkerState.WAITING or self.detail.partition(":")[0] != error.dependency:
            log.warning("worker waits", worker=self.name, away=error)
        self.state, self.detail = WorkerState.WAITING, f"{error.dependency}: {error.detail}"

    def stopped(self, why: str) -> None:
        if self.state is not WorkerState.STOPPED:
            log.error("worker stopped", worker=self.name, why=why)
        self.state, self.detail = WorkerState.STOPPED, why


class SubWorkerHealth(WorkerHealth):
    """The state of one of several tasks that a worker runs side by side: the worker is ready when all of them are."""

    __slots__ = ("_all", "_worker", "waits_for")

    def __init__(self, worker: WorkerHealth, all_: "list[SubWorkerHealth]") -> None:
        super().__init__(worker.name)
        self._worker = worker
        self._all = all_
        self.waits_for: Unavailable | None = None
        all_.append(self)

    def ready(self) -> None:
        self.state, self.detail, self.waits_for, self.was_ready = WorkerState.READY, "", None, True
        self._tell()

    def recovered(self) -> None:
        self.waits_for = None
        super().recovered()
        self._tell()

    def waiting(self, error: Unavailable) -> None:
        self.state, self.detail, self.waits_for = WorkerState.WAITING, f"{error.dependency}: {error.detail}", error
        self._tell()

    def stopped(self, why: str) -> None:
        self.state, self.detail, self.waits_for = WorkerState.STOPPED, why, None
        self._worker.stopped(why)

    def failed(self, queue: str, error: Exception, receives: int) -> None:
        self._worker.failed(queue, error, receives)

    def left(self) -> None:
        """The task has ended because it is not wanted any more; the worker's state is that of the others."""
        self._all.remove(self)
        self._tell()

    def _tell(self) -> None:
        missing = next((each.waits_for for each in self._all if each.waits_for is not None), None)
        if missing is not None:
            self._worker.waiting(missing)
        elif all(each.state is WorkerState.READY for each in self._all):
            self._worker.ready()
        elif self._worker.state is WorkerState.WAITING:
            self._worker.recovered()


class SubWorkers:
    """The tasks of a worker that come and go. A worker without any task is ready."""

    def __init__(self, worker: WorkerHealth) -> None:
        self._worker = worker
        self._all: list[SubWorkerHealth] = []

    def join(self) -> SubWorkerHealth:
        return SubWorkerHealth(self._worker, self._all)


def sub_workers_of(worker: WorkerHealth, count: int) -> list[SubWorkerHealth]:
    all_: list[SubWorkerHealth] = []
    return [SubWorkerHealth(worker, all_) for _ in range(count)]


class Health:
    """All workers of this process."""

    def __init__(self, names: Iterable[str]) -> None:
        self.workers = {name: WorkerHealth(name) for name in names}
        # Dependencies that are down while a worker goes on without them: name and reason.
        self.missed: dict[str, str] = {}

    def worker(self, name: str) -> WorkerHealth:
        return self.workers[name]

    @property
    def ready(self) -> bool:
        return all(worker.state is WorkerState.READY for worker in self.workers.values())

    def miss(self, dependency: str, why: str) -> None:
        if dependency not in self.missed:
            log.warning("dependency down, working without it", away=Unavailable(dependency, why))
        self.missed[dependency] = why

    def regained(self, dependency: str) -> None:
        if self.missed.pop(dependency, None) is not None:
            log.info("dependency back", back=dependency)

    @property
    def failures(self) -> dict[str, Failure]:
        return {queue: each for worker in self.workers.values() for queue, each in worker.failures.items()}

    def report(self) -> dict[str, dict[str, str]]:
        return {name: {"state": str(w.state), "detail": w.detail} for name, w in sorted(self.workers.items())}
