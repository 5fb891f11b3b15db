"""Positions of members who walk and ride through a country's regions: read, followed, and what is crossed written."""

import os
import random
import time
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Final

import orjson
import psutil

from abacus.core.clock import SystemClock
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.publisher import StreamMessage
from abacus.platform.kafka.reader import Record
from abacus.platform.migrations import migrate
from abacus.platform.postgres import LOOKUPS_BY_KEY, Pool, open_pool
from abacus.platform.quarantine.store import QuarantineStore
from abacus.signals.places.decide.country_index import build
from abacus.signals.places.decide.country_map import Maps
from abacus.signals.places.decide.region_index import RegionIndex
from abacus.signals.places.position_follower import PositionFollower
from benchmarks.region_examples import net
from benchmarks.report import Figure, rate

MEMBERS: Final = 20_000
BATCH: Final = 4_000
ROUNDS: Final = 30
SIDE: Final = 70  # regions in a row, of as many rows
_SIZE: Final = 0.01  # degrees of a region, about a kilometre
_JAGS: Final = 4
_SOUTH_WEST: Final = (103.6, 1.2)
_EVERY: Final = timedelta(seconds=30)  # of a member
_STEP: Final = 0.001  # degrees in that time: the fourth part of 48 km/h
_SHORT: Final = 5


class Phones:
    """Members who go about, each at a pace of its own, and send a position every half minute."""

    def __init__(self, now: datetime) -> None:
        self._rng = random.Random(1)
        west, south = _SOUTH_WEST
        self._at = now - timedelta(minutes=30)
        self._offsets = count()
        self._places = [
            [west + self._rng.random() * SIDE * _SIZE, south + self._rng.random() * SIDE * _SIZE]
            for _ in range(MEMBERS)
        ]

    def batches(self) -> Iterator[list[Record]]:
        while True:
            for first in range(0, MEMBERS, BATCH):
                yield [self._record(member) for member in range(first, first + BATCH)]
            self._at += _EVERY

    def _record(self, member: int) -> Record:
        place = self._places[member]
        pace = _STEP * (member % 5) / 4
        place[0] += self._rng.uniform(-0.5, 1) * pace
        place[1] += self._rng.uniform(-0.5, 1) * pace
        body = {"member_id": f"m{member:06}", "lat": place[1], "lon": place[0], "accuracy_m": 12, "at": self._at}
        return Record(orjson.dumps(body), "positions", 0, next(self._offsets))


class Told:
    """Counts the events."""

    def __init__(self) -> None:
        self.events = 0

    async def publish(self, messages: Sequence[StreamMessage]) -> None:
        self.events += len(messages)


async def measure(directory: Path, *, short: bool) -> list[Figure]:
    regions = list(net(SIDE, SIDE, south_west=_SOUTH_WEST, size=_SIZE, jags=_JAGS))
    index = RegionIndex({"SG": build(regions)}, {"SG": 1})
    async with EmbeddedStack(directory, sqs=False, kafka=False) as stack:
        url = stack.database_url or ""
        await migrate(url)
        pool = await open_pool(url, size=4, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
        try:
            return await _followed(pool, index, len(regions), _SHORT if short else ROUNDS)
        finally:
            await pool.close()


async def _followed(pool: Pool, index: RegionIndex, regions: int, rounds: int) -> list[Figure]:
    clock, told = SystemClock(), Told()
    follower = PositionFollower(
        pool,
        lambda: index,
        Maps,
        told.publish,
        QuarantineStore(pool, clock),
        clock=clock,
        health=WorkerHealth("positions"),
    )
    batches = Phones(clock.now()).batches()
    for _ in range(MEMBERS // BATCH):  # everybody enters where it is
        await follower.handle(next(batches))
    entered, told.events, before = told.events, 0, psutil.Process().memory_info().rss
    cpu_s, began = time.process_time(), time.perf_counter()
    for _ in range(rounds):
        await follower.handle(next(batches))
    cpu_s, took_s = time.process_time() - cpu_s, time.perf_counter() - began
    grown = (psutil.Process(os.getpid()).memory_info().rss - before) >> 20
    followed = rounds * BATCH
    return [
        Figure(
            f"positions of {MEMBERS:,} members in {regions:,} regions, a core in the process",
            rate(followed / cpu_s, "positions"),
            ratio=f"{followed / took_s:,.0f} positions/s with embedded Postgres beside it",
        ),
        Figure(
            "… what they cross",
            f"{told.events:,} events of {followed:,} positions",
            ratio=f"{entered:,} when all were new",
        ),
        Figure("… memory that the process took meanwhile", f"{grown:,} MiB"),
    ]
