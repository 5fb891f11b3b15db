"""Reads one part of the state each: processes, groups, queues, the relay."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from abacus.core.clock import Clock
from abacus.ledger.relay.cursor import RelayCursor
from abacus.oversight.status.types import GroupLag, QueueState, RelayState, Without, WorkerState, Workforce
from abacus.platform.kafka.window import lag
from abacus.platform.postgres import Pool
from abacus.platform.presence.presence_note import Presence
from abacus.platform.presence.types import Report
from abacus.platform.sqs.definition import definitions
from abacus.platform.sqs.queue import Client, SqsQueue


class Group(NamedTuple):
    """A consumer group of a worker."""

    topic: str
    name: str
    worker: str


class Notes(NamedTuple):
    """What processes say of themselves: their workers, and the oldest message of each queue."""

    workforce: Workforce
    oldest_s: Mapping[str, float]


async def notes(pool: Pool, clock: Clock) -> Notes:
    """Raises `Unavailable`."""
    workers: list[WorkerState] = []
    oldest_s: dict[str, float] = {}
    cards_age_s: list[float] = []
    without: list[Without] = []
    for process in await Presence(pool, clock).all():
        report, gone = Report.of(process.report), process.is_gone(clock.now())
        workers += [
            WorkerState(
                worker=name,
                host=process.host,
                pid=process.pid,
                version=process.version,
                state=note.state,
                detail=note.detail,
                started_at=process.started_at,
                seen_at=process.seen_at,
                gone=gone,
            )
            for name, note in report.workers.items()
        ]
        if not gone:
            for queue, age in report.queues.items():
                oldest_s[queue] = max(age, oldest_s.get(queue, 0.0))
            cards_age_s += [] if report.cards_age_s is None else [report.cards_age_s]
            without += [Without(what, process.host, process.pid, why) for what, why in report.missed.items()]
    return Notes(Workforce(sorted(workers), max(cards_age_s, default=None), sorted(without)), oldest_s)


async def lags(bootstrap: str, groups: Sequence[Group]) -> Sequence[GroupLag]:
    """Raises `Unavailable`, and `Refused` for a topic that is not there."""
    return [
        GroupLag(each.topic, each.name, each.worker, await lag(bootstrap, each.topic, each.name)) for each in groups
    ]


async def queues(client: Client, prefix: str, oldest_s: Mapping[str, float]) -> Sequence[QueueState]:
    """Every queue, its dead letters after it. Raises `Unavailable`."""
    states: list[QueueState] = []
    for queue in definitions(prefix):
        depth = await (await SqsQueue.find(client, queue.name)).depth()
        is_dead = queue.dead_letter is None
        age_s = None if is_dead else oldest_s.get(queue.name)
        states.append(QueueState(queue.name, *depth, oldest_s=age_s, dead_letters=is_dead))
    return sorted(states)


async def relay(pool: Pool, topic: str, clock: Clock, *, most: int | None = None) -> RelayState:
    """What waits is counted to `most`. Raises `Unavailable`."""
    cursor = RelayCursor(pool, topic, clock)
    return RelayState(await cursor.waiting(most), await cursor.waiting_since())
