"""The watch: one process of the console looks at the house, in turns of half a minute."""

import asyncio
from collections.abc import Mapping
from datetime import datetime
from typing import Final

import structlog

from abacus.console.decide.alarms import alarms_of
from abacus.console.decide.waits import RELAY, WEBHOOKS
from abacus.console.watch.metrics import ALARMS, LOOKS
from abacus.console.watch.store import EVERY, WatchStore
from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.oversight.status.capabilities import figures_of
from abacus.oversight.status.decide.problems import problems, unread
from abacus.oversight.status.sources import Places, snapshot_of
from abacus.oversight.status.types import Snapshot

COUNTED_TO: Final = 100_000  # transfers that are not published

log = structlog.get_logger(__name__)


async def keep_watching(places: Places, store: WatchStore, clock: Clock) -> None:
    """Runs until cancelled. While the database is away nothing is noted."""
    while True:
        try:
            await look(places, store, clock)
        except Unavailable as error:
            log.warning("nobody looks at the house", away=error)
        await asyncio.sleep(EVERY.total_seconds())


async def look(places: Places, store: WatchStore, clock: Clock) -> None:
    """Looks at the house, unless another process does in this half minute. Raises `Unavailable`."""
    turn = await store.begin(clock.now())
    if turn is not None:
        unknown: dict[str, str] = {}
        snapshot = await snapshot_of(places, clock, unknown, most=COUNTED_TO)
        wrong = alarms_of(problems(snapshot, places.pipeline, places.prefix))
        await store.note(wrong, unread(snapshot), clock.now())
        await store.end(turn, _waits_s(snapshot, places.prefix))
        LOOKS.labels("part" if unknown else "whole").inc()
    ALARMS.set(sum(each.over_at is None for each in await store.alarms()))


def _waits_s(snapshot: Snapshot, prefix: str) -> Mapping[str, float]:
    """By the notes of workers and the rows that wait: of a queue that no worker receives from nothing is known."""
    waits_s: dict[str, float] = {}
    if snapshot.workforce is not None:
        waits_s |= {name.removeprefix(prefix): age for name, age in snapshot.workforce.oldest_s.items()}
    if snapshot.relay is not None:
        waits_s[RELAY] = _age_s(snapshot.relay.oldest_posted_at, snapshot.at)
    if snapshot.undelivered is not None:
        waits_s[WEBHOOKS] = _age_s(figures_of(snapshot.undelivered).get("oldest_webhook_at"), snapshot.at)
    return waits_s


def _age_s(since: object, now: datetime) -> float:
    return max(0.0, (now - since).total_seconds()) if isinstance(since, datetime) else 0.0
