"""The problems in a state of things, each with its remedy. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from abacus.core.status import Cause, Overdue, Problem
from abacus.oversight.growth.decide.forecast import WARNS_WITHIN
from abacus.oversight.growth.types import DiskForecast
from abacus.oversight.status.types import (
    GroupLag,
    QueueState,
    RelayState,
    Snapshot,
    WorkerState,
    Workforce,
)

_STARTS_WITHIN: Final = timedelta(minutes=2)
_PUBLISHED_WITHIN: Final = timedelta(minutes=1)
_MOST_LAG: Final = 10_000
_CARDS_FRESH_S: Final = 60.0
# The age of a message beyond which its queue's worker does not keep up; the retry queue waits by intention.
_OLDEST_S: Final[Mapping[str, float]] = {"award": 300.0, "expiry": 3600.0, "retry": 86_400.0}


def problems(snapshot: Snapshot, pipeline: Sequence[str], prefix: str) -> list[Problem]:
    """All problems. The workers of the pipeline have to run; the others, once they were started, have to go on. The
    prefix is that of the queues.
    """
    return [
        *(_of_workers(snapshot.workforce, pipeline, snapshot.at) if snapshot.workforce is not None else ()),
        *(problem for lag in snapshot.lags or () for problem in _of_lag(lag)),
        *(problem for queue in snapshot.queues or () for problem in _of_queue(queue, prefix, snapshot)),
        *(_of_relay(snapshot.relay, snapshot.at) if snapshot.relay is not None else ()),
        *_of_quarantine(snapshot.quarantine or {}),
        *(left.problem for left in snapshot.undelivered or () if left.problem is not None),
        *map(_of_job, snapshot.overdue or ()),
        *(_of_disk(snapshot.sizes) if snapshot.sizes is not None else ()),
    ]


def unread(snapshot: Snapshot) -> set[Cause]:
    """The causes that nobody could look for."""
    parts: list[tuple[object, set[Cause]]] = [
        (
            snapshot.workforce,
            {Cause.WORKER_AWAY, Cause.WORKER_STOPPED, Cause.WORKER_WAITING, Cause.WITHOUT, Cause.CARDS_OLD},
        ),
        (snapshot.lags, {Cause.LAG}),
        (snapshot.queues, {Cause.DEAD_LETTERS, Cause.QUEUE_OLD}),
        (snapshot.relay, {Cause.UNPUBLISHED}),
        (snapshot.quarantine, {Cause.QUARANTINE}),
        (snapshot.undelivered, {Cause.UNDELIVERED, Cause.NEEDS_SOMEBODY}),
        (snapshot.overdue, {Cause.OVERDUE}),
        (snapshot.sizes, {Cause.DISK}),
    ]
    return {cause for part, causes in parts if part is None for cause in causes}


def exit_code(snapshot: Snapshot, faults: Sequence[Problem]) -> int:
    """0 when all is well, 1 when something is wrong, 2 when nothing is known to be wrong and not all is known."""
    if faults:
        return 1
    return 2 if snapshot.unknown else 0


def _of_workers(workforce: Workforce, pipeline: Sequence[str], now: datetime) -> Iterator[Problem]:
    alive = {each.worker for each in workforce.workers if not each.gone}
    for name in pipeline:
        if name not in alive:
            seen = [each.seen_at for each in workforce.workers if each.worker == name]
            fault = f"no process runs the worker {name}"
            yield Problem(fault, f"start one: abacus worker {name}", Cause.WORKER_AWAY, name, max(seen, default=None))
    silent = {each.worker: each for each in workforce.workers if each.gone and each.worker not in alive}
    for name, last in sorted(silent.items()):
        if name not in pipeline:
            fault = (
                f"the worker {name} on {last.host} (pid {last.pid}) is silent since {last.seen_at:%Y-%m-%d %H:%M:%S}"
            )
            remedy = f"start another: abacus worker {name}"
            yield Problem(f"{fault} UTC", remedy, Cause.WORKER_AWAY, name, last.seen_at)
    for each in workforce.workers:
        yield from _of_worker(each, now)
    for down in workforce.without:
        fault = f"a process on {down.host} (pid {down.pid}) does without {down.dependency}: {down.why}"
        remedy = "its workers go on meanwhile; it is used again when it is back"
        yield Problem(fault, remedy, Cause.WITHOUT, down.dependency)
    age_s = workforce.cards_age_s
    if age_s is not None and age_s > _CARDS_FRESH_S:
        since = now - timedelta(seconds=age_s)
        fault, remedy = f"rate cards in use are {age_s:,.0f} s old", "see whether the workers reach the database"
        yield Problem(fault, remedy, Cause.CARDS_OLD, since=since)


def _of_worker(each: WorkerState, now: datetime) -> Iterator[Problem]:
    whose = f"the worker {each.worker} on {each.host} (pid {each.pid})"
    if each.gone:
        return
    match each.state:
        case "stopped":
            fault, remedy = f"{whose} has stopped: {each.detail}", "mend the cause, then start it again"
            yield Problem(fault, remedy, Cause.WORKER_STOPPED, each.worker)
        case "waiting":
            fault, remedy = f"{whose} waits: {each.detail}", "it goes on by itself when that is back"
            yield Problem(fault, remedy, Cause.WORKER_WAITING, each.worker)
        case "starting" if now - each.started_at > _STARTS_WITHIN:
            fault = f"{whose} is not ready since its start"
            yield Problem(fault, "see its log", Cause.WORKER_STOPPED, each.worker, each.started_at)


def _of_lag(lag: GroupLag) -> Iterator[Problem]:
    if lag.messages > _MOST_LAG:
        fault = f"the group {lag.group} has {lag.messages:,} messages of {lag.topic} to read"
        yield Problem(fault, f"if that grows, start more: abacus worker {lag.worker}", Cause.LAG, lag.worker)


def _of_queue(queue: QueueState, prefix: str, snapshot: Snapshot) -> Iterator[Problem]:
    name = queue.queue.removeprefix(prefix)
    if queue.dead_letters:
        if queue.waiting:
            source = name.removesuffix("-dlq")
            known = snapshot.workforce.failures.get(prefix + source) if snapshot.workforce is not None else None
            why = f"; a message of {prefix}{source} last failed with {known.why}" if known is not None else ""
            fault = f"{queue.queue} holds {queue.waiting:,} dead letters{why}"
            find = "mend the cause" if known is not None else "find the cause in the workers' logs"
            remedy = f"{find}, then: abacus dlq redrive {source}"
            yield Problem(fault, remedy, Cause.DEAD_LETTERS, source)
    elif queue.oldest_s is not None and queue.oldest_s > _OLDEST_S.get(name, 0.0):
        fault = f"the oldest message of {queue.queue} is {queue.oldest_s:,.0f} s old"
        since = snapshot.at - timedelta(seconds=queue.oldest_s)
        yield Problem(fault, "see why its worker does not keep up", Cause.QUEUE_OLD, name, since)


def _of_relay(relay: RelayState, now: datetime) -> Iterator[Problem]:
    if relay.oldest_posted_at is not None and now - relay.oldest_posted_at > _PUBLISHED_WITHIN:
        fault = f"{relay.waiting:,} transfers are not published, the oldest since"
        yield Problem(
            f"{fault} {relay.oldest_posted_at:%Y-%m-%d %H:%M:%S} UTC",
            "see the relay's log, and look for transactions that stay open in Postgres",
            Cause.UNPUBLISHED,
            since=relay.oldest_posted_at,
        )


def _of_quarantine(counts: Mapping[str, int]) -> Iterator[Problem]:
    for reason, count in counts.items():
        which = f"--reason {reason}"
        remedy = f"abacus quarantine list {which}; mend the cause, then: abacus quarantine replay {which}"
        yield Problem(f"the quarantine holds {count:,} of {reason}", remedy, Cause.QUARANTINE, reason)


def _of_job(overdue: Overdue) -> Problem:
    where = f" of {overdue.country}" if overdue.country else ""
    return Problem(f"{overdue.job}{where}: {overdue.detail}", overdue.command, Cause.OVERDUE, overdue.job)


def _of_disk(sizes: DiskForecast) -> Iterator[Problem]:
    if sizes.days_left is not None and sizes.days_left < WARNS_WITHIN:
        fault = f"the disk of the database is full on {sizes.full_on}, in {sizes.days_left} days, at this rate"
        yield Problem(fault, "see what grows, and make room: docs/operate/growth.md", Cause.DISK, "database")
