"""A month's end with a million accounts of which 300,000 lapse: the job and the expirer, and posting meanwhile.

Job, expirer and poster are processes of their own, as in production; Postgres and SQS share the machine with them.
"""

import asyncio
import multiprocessing
import sys
import time
from contextlib import AsyncExitStack
from itertools import count
from multiprocessing.sharedctypes import Synchronized
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Final, NamedTuple

import uvloop

from abacus.cli.house.stack import make_ready
from abacus.core.clock import SystemClock
from abacus.ledger.store.post import PostgresLedger
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.postgres import LOOKUPS_BY_KEY, Pool, open_pool
from abacus.platform.settings import Settings
from abacus.programs.expiry.decide.month import Month
from abacus.programs.expiry.runs import ExpiryRuns, Run
from benchmarks.pipeline import environment, worker
from benchmarks.posting_rounds import award
from benchmarks.report import Figure, rate

ALONE: Final = "SG"  # 200,000 of its accounts lapse while nothing else happens
WITH_POSTING: Final = "MY"  # 100,000 of its accounts lapse while awards are posted
LAPSING: Final = {ALONE: 200_000, WITH_POSTING: 100_000}
MONTH: Final = Month(2026, 7)
BATCH: Final = 500
CONNECTIONS: Final = 2
POSTING_ALONE_S: Final = 8.0

WANTED: Final = 5_000
WANTED_RATIO: Final = 0.5

_MEMBERS: Final = """
insert into account (member_id, program, country, balance, expires_on)
select 'm' || lpad(n::text, 8, '0'), 'GRP', $1, 100, $2
from generate_series($3::int, $4::int - 1) as n
"""


class Pace(NamedTuple):
    """The number of members that lapsed, the time it took, and the rate of posting meanwhile."""

    run: Run
    seconds: float
    awards_per_s: float

    @property
    def members_per_s(self) -> float:
        return self.run.expired / self.seconds


async def measure(directory: Path, accounts: int) -> list[Figure]:
    async with AsyncExitStack() as stack:
        embedded = await stack.enter_async_context(EmbeddedStack(directory, kafka=False))
        settings = Settings(database_url=embedded.database_url, sqs_endpoint_url=embedded.sqs_endpoint_url)
        await make_ready(settings)
        owner = await open_pool(settings.required("database_url"), size=2, role=None)
        stack.push_async_callback(owner.close)
        first_active = await _fill(owner, accounts)
        await stack.enter_async_context(worker("expirer", settings))
        alone = await _lapse(owner, settings, ALONE)
        poster = Poster(settings.required("database_url"), first_active, accounts)
        stack.callback(poster.stop)
        await poster.warm_up()
        began = poster.posted
        await asyncio.sleep(POSTING_ALONE_S)
        posting_alone = (poster.posted - began) / POSTING_ALONE_S
        together = await _lapse(owner, settings, WITH_POSTING, poster)
    share = together.awards_per_s / posting_alone
    return [
        Figure(
            f"month's end, {alone.run.expired:,} members of {accounts:,} accounts, job and expirer together",
            rate(alone.members_per_s, "members"),
            f"{together.members_per_s / alone.members_per_s:.2f} of it while awards are posted",
            f">= {WANTED:,}/s",
            alone.members_per_s >= WANTED and alone.run.expired == LAPSING[ALONE],
        ),
        Figure(
            f"posting of awards while {together.run.expired:,} members lapse, 1 x {CONNECTIONS} connections",
            rate(together.awards_per_s, "awards"),
            f"{share:.2f} of {posting_alone:,.0f} awards/s without",
            f">= {WANTED_RATIO}",
            share >= WANTED_RATIO and together.run.expired == LAPSING[WITH_POSTING],
        ),
    ]


async def _fill(owner: Pool, accounts: int) -> int:
    """Write accounts that lapse, then accounts that do not; return the number of the first."""
    first = 0
    for country, number in LAPSING.items():
        await owner.execute(_MEMBERS, country, MONTH.last_day, first, first + number, timeout=600)
        first += number
    active_until = Month(MONTH.year, MONTH.number + 3).last_day
    await owner.execute(_MEMBERS, ALONE, active_until, first, accounts, timeout=600)
    await owner.execute("vacuum analyze account", timeout=600)
    await owner.execute("checkpoint", timeout=600)
    return first


async def _lapse(owner: Pool, settings: Settings, country: str, poster: "Poster | None" = None) -> Pace:
    """Run `abacus expiry run` and wait until its record says that it is finished."""
    runs = ExpiryRuns(owner)
    posted, began = poster.posted if poster else 0, time.monotonic()
    command = ("-m", "abacus", "expiry", "run", "--month", str(MONTH), "--country", country, "--wait", "--json")
    job = await asyncio.create_subprocess_exec(
        sys.executable, *command, env=environment(settings), stdout=asyncio.subprocess.DEVNULL
    )
    if await job.wait():
        raise RuntimeError("the job failed")
    seconds = time.monotonic() - began
    posted = (poster.posted if poster else 0) - posted
    (run,) = await runs.all(country, MONTH)
    return Pace(run, seconds, posted / seconds)


class Poster:
    """A process that posts awards to active accounts until it is stopped."""

    def __init__(self, url: str, first: int, accounts: int) -> None:
        spawning = multiprocessing.get_context("spawn")
        self._count: Synchronized[int] = spawning.Value("q", 0)
        self._stop: Event = spawning.Event()
        self._process = spawning.Process(target=_post, args=(url, first, accounts, self._count, self._stop))
        self._process.start()

    @property
    def posted(self) -> int:
        return self._count.value

    async def warm_up(self) -> None:
        """Wait for the first changes of pages after a checkpoint: they are slow, so they are not timed."""
        while self.posted < 100_000:  # noqa: ASYNC110, PLR2004  # it is another process that posts
            await asyncio.sleep(0.1)

    def stop(self) -> None:
        self._stop.set()
        self._process.join()


def _post(url: str, first: int, accounts: int, posted: "Synchronized[int]", stop: Event) -> None:
    async def main() -> None:
        pool = await open_pool(url, size=CONNECTIONS, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
        ledger, numbers = PostgresLedger(pool, SystemClock()), count()

        async def hand() -> None:
            while not stop.is_set():
                batch = [next(numbers) for _ in range(BATCH)]
                active = accounts - first
                await ledger.post([award(number, first + number * 7919 % active) for number in batch])
                posted.value += BATCH

        try:
            await asyncio.gather(*(hand() for _ in range(CONNECTIONS)))
        finally:
            await pool.close()

    uvloop.run(main())
