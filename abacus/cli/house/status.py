"""`abacus status`: the state of everything, what is wrong with it, and what to do."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import datetime
from typing import Any, Final

import typer

from abacus.cli.terminal.shell import AsJson, console, database, print_json, settings, sqs, table
from abacus.core.clock import SystemClock
from abacus.core.errors import Unavailable
from abacus.core.status import Problem
from abacus.oversight.status.capabilities import figures_of
from abacus.oversight.status.decide.problems import exit_code, problems
from abacus.oversight.status.snapshot_reader import Places, read
from abacus.oversight.status.types import QueueState, Snapshot, WorkerState
from abacus.oversight.status.wiring import groups_of
from workers import PIPELINE

_QUEUE: Final = ("queue", "waiting", "in flight", "delayed", "oldest")


async def status(as_json: AsJson = False) -> None:
    """Show workers, streams, queues, the relay, what is set aside or undelivered, and jobs; a line for each problem.

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
        snapshot = await read(Places(pool, client, kafka, prefix, topic, groups_of(config), PIPELINE), clock, unknown)
    faults = problems(snapshot, PIPELINE, prefix)
    if as_json:
        print_json(_document(snapshot, faults))
    else:
        _show(snapshot, faults)
    if code := exit_code(snapshot, faults):
        raise typer.Exit(code)


def queue_rows(queues: Sequence[QueueState]) -> list[list[str]]:
    return [
        [
            each.queue,
            f"{each.waiting:,}",
            f"{each.in_flight:,}",
            f"{each.delayed:,}",
            "" if each.oldest_s is None else f"{each.oldest_s:,.0f} s",
        ]
        for each in queues
    ]


def show_queues(queues: Sequence[QueueState]) -> None:
    table("Queues", _QUEUE, queue_rows(queues))


def _show(snapshot: Snapshot, faults: Sequence[Problem]) -> None:
    if snapshot.workforce is not None:
        columns = ["worker", "host", "pid", "state", "since", "why"]
        table("Workers", columns, [_worker(each, snapshot.at) for each in snapshot.workforce.workers])
        if without := snapshot.workforce.without:
            table(
                "Done without",
                ["what", "host", "pid", "why"],
                [[e.dependency, e.host, str(e.pid), e.why] for e in without],
            )
    if snapshot.lags is not None:
        table("Streams", ["group", "topic", "to read"], [[e.group, e.topic, f"{e.messages:,}"] for e in snapshot.lags])
    if snapshot.queues is not None:
        show_queues(snapshot.queues)
    if snapshot.relay is not None:
        console.print(f"relay: {snapshot.relay.waiting:,} transfers to publish")
    if snapshot.workforce is not None and snapshot.workforce.cards_age_s is not None:
        console.print(f"rate cards in use: {snapshot.workforce.cards_age_s:,.0f} s old")
    _show_left(snapshot)
    for each in faults:
        console.print(f"WRONG: {each.fault}: {each.remedy}", style="red", soft_wrap=True)
    for name, why in snapshot.unknown.items():
        console.print(f"UNKNOWN: {name}: {why}", style="yellow", soft_wrap=True)
    if not faults and not snapshot.unknown:
        console.print("all is well")


def _show_left(snapshot: Snapshot) -> None:
    """What a person may have to see to."""
    if snapshot.quarantine is not None:
        console.print(f"quarantine: {sum(snapshot.quarantine.values()):,} held")
    if (left := snapshot.undelivered) is not None:
        console.print(f"not delivered: {', '.join(each.told for each in left)}")


def _worker(each: WorkerState, now: datetime) -> list[str]:
    state = f"gone ({(now - each.seen_at).total_seconds():,.0f} s)" if each.gone else each.state
    return [each.worker, each.host, str(each.pid), state, f"{each.started_at:%Y-%m-%d %H:%M}", each.detail]


def _document(snapshot: Snapshot, faults: Sequence[Problem]) -> dict[str, Any]:
    workforce = snapshot.workforce
    return {
        "at": snapshot.at,
        "ok": not faults and not snapshot.unknown,
        "problems": _documents(faults),
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
    }


def _documents(rows: Sequence[Any] | None) -> list[dict[str, Any]] | None:
    return None if rows is None else [row._asdict() for row in rows]
