"""Rounds of work on one ledger by processes that begin together, each with a few connections, as awarders do."""

import asyncio
import hashlib
import multiprocessing
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, date, datetime
from multiprocessing.synchronize import Barrier
from typing import Final, NamedTuple, TypeVar

from abacus.core.sources import STREAM
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.kinds import TransferKind
from abacus.platform.postgres import LOOKUPS_BY_KEY, Pool, open_pool
from abacus.process import look_for_garbage_seldom

AWARDS: Final = 20_000  # a round
AWARDERS: Final = 2
CONNECTIONS: Final = 2  # of each
BATCH: Final = 200  # larger batches often wait for each other's accounts

Thing = TypeVar("Thing")

EXPLANATION: Final = (
    b'{"amount":"15.00","currency":"SGD","card":"SG@7","factors":[["vertical","food","2"],["eppf","SG","1"],'
    b'["cashless","wallet","2"],["tier","platinum","3"]],"product":"180.00","rounding":"floor","points":180}'
)
NOW: Final = datetime(2026, 5, 1, tzinfo=UTC)

# One account in five is active for the first time in the month: its expiry date moves, and with it an index entry.
MEMBERS: Final = """
insert into account (member_id, program, country, expires_on)
select 'm' || lpad(n::text, 8, '0'), 'GRP', 'SG', case when n % 5 > 0 then date '2026-11-30' end
from generate_series(0, $1::int - 1) as n
"""


class Part(NamedTuple):
    """The part of a round that one process does."""

    url: str
    accounts: int
    round: int
    number: int
    of: int
    connections: int
    copied: int = 0  # how often the rows of this round were copied before
    without: str = ""  # the part of posting to leave out, to measure its cost
    batch: int = BATCH
    scattered: bool = False  # whether keys follow no order, as those of many senders


def awards_of(part: Part, of: int = AWARDS) -> list[Award]:
    """The share of the round's awards that this process does, of so many."""
    rng = random.Random(part.round)
    drawn = [award(part.round * AWARDS + number, rng.randrange(part.accounts)) for number in range(of)]
    if part.scattered:
        drawn = [each._replace(key=f"txn:rides:{hashlib.sha256(each.key.encode()).hexdigest()[:32]}") for each in drawn]
    return drawn[part.number :: part.of]


_start_together: list[Barrier] = []


@contextmanager
def processes(count: int) -> Iterator[Executor]:
    spawning = multiprocessing.get_context("spawn")
    barrier = spawning.Barrier(count)
    with ProcessPoolExecutor(count, spawning, initializer=_initialize, initargs=(barrier,)) as workers:
        yield workers


def _initialize(barrier: Barrier) -> None:
    _start_together.append(barrier)


def seconds_of(workers: Executor, work: Callable[[Thing], tuple[float, float]], parts: Sequence[Thing]) -> float:
    """The seconds from the first process to begin to the last to end."""
    began, ended = zip(*workers.map(work, parts), strict=True)
    seconds: float = max(ended) - min(began)
    return seconds


def batches_of(things: Sequence[Thing], size: int) -> list[Sequence[Thing]]:
    return [things[start : start + size] for start in range(0, len(things), size)]


async def timed(hand: Callable[[], Awaitable[None]], hands: int) -> tuple[float, float]:
    """The moments at which the process began, together with the others, and ended."""
    look_for_garbage_seldom()  # as a worker does; what waits to be posted or copied is the benchmark's own
    _start_together[0].wait()
    began = time.monotonic()
    await asyncio.gather(*(hand() for _ in range(hands)))
    return began, time.monotonic()


def award(number: int, member: int) -> Award:
    activity = True
    return Award(
        f"txn:rides:T-{number:09}",
        f"m{member:08}",
        "GRP",
        "SG",
        TransferKind.EARN,
        180,
        NOW,
        date(2026, 11, 30),
        activity,
        f"{number:032x}",
        EXPLANATION,
        STREAM,
    )


@asynccontextmanager
async def ledger_pool(url: str, size: int, *, owner: bool = False) -> AsyncIterator[Pool]:
    pool = await (
        open_pool(url, size=size, role=None)
        if owner
        else open_pool(url, size=size, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
    )
    try:
        yield pool
    finally:
        await pool.close()
