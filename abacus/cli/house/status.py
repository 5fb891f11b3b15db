"""`abacus status`: the state of everything, what is wrong with it, and what to do."""

from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from datetime import datetime
from typing import Any, Final

from rich.filesize import decimal

from abacus.cli.terminal.answer import Answer, Line, Shown, Table
from abacus.cli.terminal.shell import database, settings, sqs
from abacus.core.clock import SystemClock
from abacus.core.errors import Unavailable
from abacus.core.status import Problem
from abacus.oversight.growth.types import DiskForecast
from abacus.oversight.growth.wiring import disk_of
from abacus.oversight.status.capabilities import figures_of
from abacus.oversight.status.decide.problems import exit_code, problems
from abacus.oversight.status.sources import Places, read
from abacus.oversight.status.types import QueueState, Snapshot, WorkerState
from abacus.oversight.status.wiring import groups_of
from workers import PIPELINE

_QUEUE: Final = ("queue", "waiting", "in flight", "delayed", "oldest")


async def status() -> Answer:
    """Show workers, streams, queues, the relay, what is set aside or undelivered, jobs and sizes, and each problem.

    Exit 0 if all is well, 1 if something is wrong, 2 if nothing is known to be wrong and not everything can be read.
    """
    config, clock, unknown = settings(), SystemClock(), dict[str, str]()
    config.required("database_url")
    async with AsyncExitStack() as stack:
        try:
            pool = await stack.enter_async_context(database(config))
        except Unavailable as error:
            pool, unknown["database"] = None, str(error)
        client = await stack.enter_async_context(sqs(config))
        kafka, prefix, topic = config.kafka_bootstrap, config.queue_prefix, config.points_topic
        groups, disk = groups_of(config), disk_of(config)
        snapshot = await read(Places(pool, client, kafka, prefix, topic, groups, PIPELINE, disk), clock, unknown)
    faults = problems(snapshot, PIPELINE, prefix)
    return Answer(_document(snapshot, faults), *_shown(snapshot, faults), exit_code=exit_code(snapshot, faults))


def queue_table(queues: Sequence[QueueState]) -> Table:
    rows = [[each.queue, each.waiting, each.in_flight, each.delayed, _age(each.oldest_s)] for each in queues]
    return Table("Queues", _QUEUE, rows)


def _age(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:,.0f} s"


def _shown(snapshot: Snapshot, faults: Sequence[Problem]) -> Iterator[str | Shown]:
    if snapshot.workforce is not None:
        columns = ["worker", "host", "pid", "state", "since", "why"]
        yield Table("Workers", columns, [_worker(each, snapshot.at) for each in snapshot.workforce.workers])
        if without := snapshot.workforce.without:
            rows = [[each.dependency, each.host, str(each.pid), each.why] for each in without]
            yield Table("Done without", ["what", "host", "pid", "why"], rows)
    if snapshot.lags is not None:
        yield Table("Streams", ["group", "topic", "to read"], [[e.group, e.topic, e.messages] for e in snapshot.lags])
    if snapshot.queues is not None:
        yield queue_table(snapshot.queues)
    if snapshot.relay is not None:
        yield f"relay: {snapshot.relay.waiting:,} transfers to publish"
    if snapshot.workforce is not None and snapshot.workforce.cards_age_s is not None:
        yield f"rate cards in use: {snapshot.workforce.cards_age_s:,.0f} s old"
    yield from _left(snapshot)
    if snapshot.sizes is not None:
        yield from _sizes(snapshot.sizes)
    yield from _verdict(snapshot, faults)


def _left(snapshot: Snapshot) -> Iterator[str]:
    """What a person may have to see to."""
    if snapshot.quarantine is not None:
        yield f"quarantine: {sum(snapshot.quarantine.values()):,} held"
    for each in snapshot.undelivered or ():
        yield f"{each.kind}: {each.told}"


def _sizes(sizes: DiskForecast) -> Iterator[str | Shown]:
    rows = [[each.table, decimal(each.bytes), _rate(each.a_day)] for each in sizes.largest]
    yield Table("Largest tables", ["table", "size", "a day"], rows)
    told = f"database: {decimal(sizes.bytes)}, {_rate(sizes.a_day)} a day"
    if sizes.disk is None:
        yield f"{told}; ABACUS_DATABASE_DISK_GB is not set, so nobody knows when its disk is full"
    elif sizes.full_on is None:
        yield f"{told}; nothing says that its disk of {decimal(sizes.disk)} will be full"
    else:
        yield f"{told}; its disk of {decimal(sizes.disk)} is full on {sizes.full_on} at this rate"


def _rate(a_day: int | None) -> str:
    return "not known yet" if a_day is None else f"{'-' if a_day < 0 else '+'}{decimal(abs(a_day))}"


def _verdict(snapshot: Snapshot, faults: Sequence[Problem]) -> Iterator[str | Shown]:
    for each in faults:
        yield Line(f"WRONG: {each.fault}: {each.remedy}", "red")
    for name, why in snapshot.unknown.items():
        yield Line(f"UNKNOWN: {name}: {why}", "yellow")
    if not faults and not snapshot.unknown:
        yield "all is well"


def _worker(each: WorkerState, now: datetime) -> list[object]:
    state = f"gone ({(now - each.seen_at).total_seconds():,.0f} s)" if each.gone else each.state
    return [each.worker, each.host, str(each.pid), state, each.started_at, each.detail]


def _document(snapshot: Snapshot, faults: Sequence[Problem]) -> dict[str, Any]:
    workforce = snapshot.workforce
    return {
        "at": snapshot.at,
        "ok": not faults and not snapshot.unknown,
        "problems": [{"fault": each.fault, "remedy": each.remedy} for each in faults],
        "unknown": snapshot.unknown,
        "workers": None if workforce is None else _documents(workforce.workers),
        "without": None if workforce is None else _documents(workforce.without),
        "rate_cards_age_s": None if workforce is None else workforce.cards_age_s,
        "groups": _documents(snapshot.lags),
        "queues": _documents(snapshot.queues),
        "relay": snapshot.relay and snapshot.relay._asdict(),
        "quarantine": snapshot.quarantine,
        "undelivered": None if snapshot.undelivered is None else figures_of(snapshot.undelivered),
        "overdue": _documents(snapshot.overdue),
        "sizes": None if snapshot.sizes is None else _sizes_document(snapshot.sizes),
    }


def _documents(rows: Sequence[Any] | None) -> list[dict[str, Any]] | None:
    return None if rows is None else [row._asdict() for row in rows]


def _sizes_document(sizes: DiskForecast) -> dict[str, Any]:
    return {**sizes._asdict(), "largest": _documents(sizes.largest)}
