"""Several posters on very few accounts, and the relay beside them: no batch is given back, none starts again, and the
events have no gap.
"""

import asyncio
import time
from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Final, NamedTuple

import orjson
import uvloop

from abacus.core.clock import SystemClock
from abacus.core.errors import Unavailable
from abacus.ledger.metrics import POSTING_RESTARTS
from abacus.ledger.relay.publish_transfers import transfer_relay
from abacus.ledger.store.post import PostgresLedger
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.publisher import StreamMessage
from abacus.platform.metrics import total
from abacus.platform.migrations import migrate
from benchmarks.posting_rounds import BATCH, MEMBERS, award, ledger_pool, processes
from benchmarks.report import Figure, rate
from benchmarks.services import postgres_alone

SECONDS: Final = 60.0
_PUBLISHED_WITHIN_S: Final = 300.0
TOPIC: Final = "points"


class Crowd(NamedTuple):
    """So many posters on so few accounts."""

    posters: int
    accounts: int


CROWDS: Final = (Crowd(4, 50), Crowd(8, 5))
PROCESSES: Final = 2


class Share(NamedTuple):
    """What one process posts: its connections, and the first number of its awards."""

    url: str
    crowd: Crowd
    connections: int
    first: int
    seconds: float


class Posted(NamedTuple):
    """What became of a share. Every key is new and every account is there, so a restart is for the order's sake."""

    awards: int
    given_back: int
    restarts: int


class Reader:
    """A broker that keeps the last `seq` of each account, and counts the events that do not follow it."""

    def __init__(self) -> None:
        self.gaps = 0
        self._last: dict[str, int] = {}
        self._heard = asyncio.Event()

    async def has(self, events: int) -> None:
        """Returns when so many have come."""
        while sum(self._last.values()) < events:
            self._heard.clear()
            await self._heard.wait()

    async def connect(self) -> None:
        """It is always there."""

    async def publish(self, _topic: str, messages: Sequence[StreamMessage]) -> None:
        for message in messages:
            data = orjson.loads(message.value)["data"]
            self.gaps += data["seq"] != self._last.get(data["member_id"], 0) + 1
            self._last[data["member_id"]] = data["seq"]
        self._heard.set()


async def measure(directory: Path, seconds: float = SECONDS) -> list[Figure]:
    figures: list[Figure] = []
    for crowd in CROWDS:
        home = directory / f"{crowd.posters}-on-{crowd.accounts}"
        home.mkdir()
        async with postgres_alone(home) as url:
            await migrate(url)
            async with ledger_pool(url, 1, owner=True) as owner:
                await owner.execute(MEMBERS, crowd.accounts)
            with processes(PROCESSES) as posters:
                figures += await _meet(url, crowd, posters, seconds)
    return figures


async def _meet(url: str, crowd: Crowd, posters: Executor, seconds: float) -> list[Figure]:
    connections = crowd.posters // PROCESSES
    shares = [Share(url, crowd, connections, number * 100_000_000, seconds) for number in range(PROCESSES)]
    reader, stop = Reader(), asyncio.Event()
    async with ledger_pool(url, 2) as pool:
        relay = transfer_relay(pool, reader, TOPIC, SystemClock(), WorkerHealth("relay"))
        publishing = asyncio.create_task(relay.run(stop))
        loop = asyncio.get_running_loop()
        posted = await asyncio.gather(*(loop.run_in_executor(posters, post, share) for share in shares))
        awards = sum(each.awards for each in posted)
        async with asyncio.timeout(_PUBLISHED_WITHIN_S):
            await reader.has(awards)
        stop.set()
        await publishing
    name = f"{crowd.posters} posters on {crowd.accounts} accounts for {seconds:.0f} s"
    given_back, restarts = (sum(each[place] for each in posted) for place in (1, 2))
    return [
        Figure(f"{name}, {BATCH} a transaction", rate(awards / seconds, "awards")),
        Figure("- batches given back", f"{given_back}", "", "0", given_back == 0, anywhere=True),
        Figure("- restarts for the order's sake", f"{restarts}", "", "0", restarts == 0, anywhere=True),
        Figure("- events out of order or missing", f"{reader.gaps}", "", "0", reader.gaps == 0, anywhere=True),
    ]


def post(share: Share) -> Posted:
    return uvloop.run(_post(share))


async def _post(share: Share) -> Posted:
    awards = given_back = 0
    numbers = iter(range(share.first, share.first + 100_000_000))
    until = time.monotonic() + share.seconds
    async with ledger_pool(share.url, share.connections) as pool:
        ledger = PostgresLedger(pool, SystemClock())

        async def hand() -> None:
            nonlocal awards, given_back
            while time.monotonic() < until:
                batch = [award(number := next(numbers), number % share.crowd.accounts) for _ in range(BATCH)]
                try:
                    await ledger.post(batch)
                    awards += len(batch)
                except Unavailable:
                    given_back += 1

        await asyncio.gather(*(hand() for _ in range(share.connections)))
    return Posted(awards, given_back, total(POSTING_RESTARTS))
