"""Reads the state of things: each part by itself, and all of them with what cannot be read and why not."""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from typing import Final, NamedTuple, TypeVar

from abacus.core.clock import Clock
from abacus.core.errors import AbacusError
from abacus.ledger.relay.cursor import RelayCursor
from abacus.oversight.growth.sizes import live_forecast, noted_forecast
from abacus.oversight.status.capabilities import overdue, undelivered
from abacus.oversight.status.types import (
    GroupLag,
    QueueState,
    RelayState,
    Snapshot,
    Without,
    WorkerState,
    Workforce,
)
from abacus.platform.kafka.groups import open_lags
from abacus.platform.postgres import Pool
from abacus.platform.presence.presence_note import Presence
from abacus.platform.presence.types import Report
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.sqs.definition import QueueDefinition, definitions
from abacus.platform.sqs.queue import Client, SqsQueue

_WITHIN_S: Final = 20.0

Part = TypeVar("Part")


class Group(NamedTuple):
    """A consumer group of a worker."""

    topic: str
    name: str
    worker: str


class Places(NamedTuple):
    """Where to look. A database that is away is None, and so are queues and a broker that no setting names. The workers
    of the `pipeline` have to run, so their groups are looked at though no process has noted them. `disk` is how many
    bytes the disks of the database have, None where nobody told.
    """

    pool: Pool | None
    sqs: Client | None
    kafka: str | None
    prefix: str
    points_topic: str
    groups: Sequence[Group]
    pipeline: Sequence[str]
    disk: int | None = None


async def workforce_of(pool: Pool, clock: Clock) -> Workforce:
    """Raises `Unavailable`."""
    workers: list[WorkerState] = []
    oldest_s: dict[str, float] = {}
    cards_age_s: list[float] = []
    without: list[Without] = []
    presence = Presence(pool, clock)
    for process in await presence.all():
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
    failures = {each.queue: each for each in await presence.failures()}
    return Workforce(sorted(workers), max(cards_age_s, default=None), sorted(without), failures, oldest_s)


async def lags(bootstrap: str, groups: Sequence[Group]) -> Sequence[GroupLag]:
    """Raises `Unavailable`, and `Refused` for a topic that is not there."""
    async with open_lags(bootstrap) as behind:
        found = await asyncio.gather(*(behind.of(each.topic, each.name) for each in groups))
    return [GroupLag(*group, messages) for group, messages in zip(groups, found, strict=True)]


async def queues(client: Client, prefix: str, oldest_s: Mapping[str, float]) -> Sequence[QueueState]:
    """Every queue, its dead letters after it. Raises `Unavailable`."""

    async def state(queue: QueueDefinition) -> QueueState:
        depth = await (await SqsQueue.find(client, queue.name)).depth()
        is_dead = queue.dead_letter is None
        age_s = None if is_dead else oldest_s.get(queue.name)
        return QueueState(queue.name, *depth, oldest_s=age_s, dead_letters=is_dead)

    return sorted(await asyncio.gather(*map(state, definitions(prefix))))


async def relay(pool: Pool, topic: str, clock: Clock, *, most: int | None = None) -> RelayState:
    """What waits is counted to `most`. Raises `Unavailable`."""
    cursor = RelayCursor(pool, topic, clock)
    return RelayState(await cursor.waiting(most), await cursor.waiting_since())


async def read(places: Places, clock: Clock, unknown: dict[str, str]) -> Snapshot:
    """The state of everything. `unknown` has the parts that are known to be out of reach."""
    snapshot = await snapshot_of(places, clock, unknown)
    if places.pool is None:
        return snapshot
    held = await _known("quarantine", QuarantineStore(places.pool, clock).counts(), unknown)
    sizes = await _known("sizes", live_forecast(places.pool, clock.now(), places.disk), unknown)
    counts = None if held is None else {str(reason): held[reason] for reason in held}
    return snapshot._replace(quarantine=counts, sizes=sizes)


async def snapshot_of(places: Places, clock: Clock, unknown: dict[str, str], *, most: int | None = None) -> Snapshot:
    """The state without what is set aside, which stays until a person sees to it; sizes are those that were noted last.
    Transfers that are not published are counted to `most`.
    """
    pool, workforce, relaying, outside, late, growing = places.pool, None, None, None, None, None
    if pool is not None:
        workforce = await _known("processes", workforce_of(pool, clock), unknown)
        relaying = await _known("relay", relay(pool, places.points_topic, clock, most=most), unknown)
        outside = await _known("deliveries", undelivered(pool, clock), unknown)
        late = await _known("jobs", overdue(pool, clock.now()), unknown)
        growing = await _known("sizes", noted_forecast(pool, clock.now(), places.disk), unknown)
    queued = await _queued(places, workforce, unknown)
    behind = await _behind(places, workforce, unknown)
    return Snapshot(
        at=clock.now(),
        workforce=workforce,
        lags=behind,
        queues=queued,
        relay=relaying,
        quarantine=None,
        undelivered=outside,
        overdue=late,
        unknown=unknown,
        sizes=growing,
    )


async def _queued(places: Places, workforce: Workforce | None, unknown: dict[str, str]) -> Sequence[QueueState] | None:
    if places.sqs is None:
        unknown["queues"] = "neither ABACUS_SQS_ENDPOINT_URL nor a region of AWS is set"
        return None
    oldest_s = workforce.oldest_s if workforce is not None else {}
    return await _known("queues", queues(places.sqs, places.prefix, oldest_s), unknown)


async def _behind(places: Places, workforce: Workforce | None, unknown: dict[str, str]) -> Sequence[GroupLag] | None:
    if places.kafka is None:
        unknown["groups"] = "ABACUS_KAFKA_BOOTSTRAP is not set"
        return None
    return await _known("groups", lags(places.kafka, groups_in_use(places, workforce)), unknown)


def groups_in_use(places: Places, workforce: Workforce | None) -> list[Group]:
    """A worker that is not used has a group that reads nothing, and that is no fault."""
    used = {*places.pipeline, *(each.worker for each in (workforce.workers if workforce is not None else ()))}
    return [group for group in places.groups if group.worker in used]


async def _known(name: str, reading: Awaitable[Part], unknown: dict[str, str]) -> Part | None:
    try:
        async with asyncio.timeout(_WITHIN_S):
            return await reading
    except TimeoutError:
        unknown[name] = f"no answer within {_WITHIN_S:.0f} s"
    except AbacusError as error:
        unknown[name] = str(error)
    return None
