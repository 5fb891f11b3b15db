"""Posting to the ledger with a million accounts present, against a bare COPY of the same rows.

As in production: several awarders, each a process with a few connections. Postgres and all of them share the machine.
"""

import asyncio
import multiprocessing
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, date, datetime
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import uvloop

from abacus.core.clock import SystemClock
from abacus.embedded import EmbeddedStack
from abacus.ledger import rows, transfer
from abacus.ledger.award import Award, Kind
from abacus.ledger.post import PostgresLedger
from abacus.ledger.rows import POSTING_PLANS
from abacus.ledger.transfer import Transfer
from abacus.migrations import migrate
from abacus.postgres import Pool, open_pool
from abacus.process import look_for_garbage_seldom
from benchmarks.report import Figure, rate

WARM_UP: Final = 5  # rounds
ROUNDS: Final = 8
AWARDS: Final = 20_000  # a round
FAR: Final = 1_000_000
WANTED: Final = 18_000
WANTED_RATIO: Final = 0.28
AWARDERS: Final = 2
CONNECTIONS: Final = 2  # of each
BATCH: Final = 500
CHAIN: Final = "the chain of hashes"
LOTS: Final = "what accounts know of their lots"
MOST_COST: Final = 0.25

Thing = TypeVar("Thing")

_NO_CHAIN: Final = bytes(32)
_LOTS: Final = ",\n    a.lots_closed, a.lots_drawn, a.lapsed_seq, a.lifetime"
_EXPLANATION: Final = (
    b'{"amount":"15.00","currency":"SGD","card":"SG@7","factors":[["vertical","food","2"],["eppf","SG","1"],'
    b'["cashless","wallet","2"],["tier","platinum","3"]],"product":"180.00","rounding":"floor","points":180}'
)
_NOW: Final = datetime(2026, 5, 1, tzinfo=UTC)

# One account in five is active for the first time in the month: its expiry date moves, and with it an index entry.
_MEMBERS: Final = """
insert into account (member_id, program, country, expires_on)
select 'm' || lpad(n::text, 8, '0'), 'GRP', 'SG', case when n % 5 > 0 then date '2026-11-30' end
from generate_series(0, $1::int - 1) as n
"""

_POSTED: Final = f"select {', '.join(Transfer._fields)} from transfer where seq < $1 order by xid desc limit $2"


class Part(NamedTuple):
    """What one process does of a round."""

    url: str
    accounts: int
    round: int
    number: int
    of: int
    connections: int
    copied: int = 0  # how often the rows of this round were copied before
    without: str = ""  # what posting is to leave out, to see what that costs


async def measure(directory: Path, accounts: int) -> list[Figure]:
    async with EmbeddedStack(directory, sqs=False, kafka=False) as stack:
        url = stack.database_url or ""
        await migrate(url)
        async with _pool(url, 1, owner=True) as owner:
            await owner.execute(_MEMBERS, accounts, timeout=600)
            await owner.execute("vacuum analyze account", timeout=600)
            await owner.execute("checkpoint", timeout=600)
        with _processes(AWARDERS) as awarders, _processes(1) as alone:
            return await asyncio.to_thread(_measure, url, accounts, awarders, alone)


def _measure(url: str, accounts: int, awarders: Executor, alone: Executor) -> list[Figure]:
    """Posting and COPY take turns, so that both meet the machine in the same moods."""

    def parts(round_: int) -> list[Part]:
        return [Part(url, accounts, round_, number, AWARDERS, CONNECTIONS) for number in range(AWARDERS)]

    for warming in range(WARM_UP):  # the first change of a page after a checkpoint is dear, so it is not timed
        _seconds(awarders, _post, parts(warming))
    posting = duplicates = copying = copying_alone = unchained = without_lots = 0.0
    for round_ in range(WARM_UP, WARM_UP + ROUNDS):
        posting += _seconds(awarders, _post, parts(round_))
        copying += _seconds(awarders, _copy, parts(round_))
        copying_alone += _seconds(alone, _copy, [Part(url, accounts, round_, 0, 1, 1, copied=1)])
        duplicates += _seconds(awarders, _post, parts(round_))
        unchained += _seconds(awarders, _post, [part._replace(without=CHAIN) for part in parts(round_ + 1000)])
        without_lots += _seconds(awarders, _post, [part._replace(without=LOTS) for part in parts(round_ + 2000)])
    ratio = copying / posting  # like with like: as many processes, connections and rows a transaction
    many = f"{AWARDERS} x {CONNECTIONS} connections"
    return [
        Figure(
            f"ledger posting, new awards, {accounts:,} accounts, {BATCH} a transaction, {many}",
            rate(ROUNDS * AWARDS / posting, "awards"),
            f"{ratio:.2f} of the bare COPY by as many",
            f">= {WANTED:,}/s and >= {WANTED_RATIO}",
            ROUNDS * AWARDS / posting >= WANTED and ratio >= WANTED_RATIO,
        ),
        *(
            Figure(
                f"bare COPY of the same rows into the same indexed table, {BATCH} a transaction, {connections}",
                rate(ROUNDS * AWARDS / seconds, "rows"),
                f"posting is {seconds / posting:.2f} of it",
            )
            for connections, seconds in (("1 connection", copying_alone), (many, copying))
        ),
        *(
            Figure(
                f"posting without {what}",
                rate(ROUNDS * AWARDS / seconds, "awards"),
                f"so {what} costs {1 - seconds / posting:.0%}",
                "<= 25 % for both",
                2 - (unchained + without_lots) / posting <= MOST_COST,
            )
            for what, seconds in ((CHAIN, unchained), (LOTS, without_lots))
        ),
        Figure(
            "posting the same awards again (all duplicates)",
            rate(ROUNDS * AWARDS / duplicates, "awards"),
            f"{posting / duplicates:.1f} of new",
        ),
    ]


_start_together: list[Barrier] = []


@contextmanager
def _processes(count: int) -> Iterator[Executor]:
    spawning = multiprocessing.get_context("spawn")
    barrier = spawning.Barrier(count)
    with ProcessPoolExecutor(count, spawning, initializer=_initialize, initargs=(barrier,)) as processes:
        yield processes


def _initialize(barrier: Barrier) -> None:
    _start_together.append(barrier)


def _seconds(processes: Executor, work: Callable[[Part], tuple[float, float]], parts: Sequence[Part]) -> float:
    """From the first to begin to the last to end."""
    began, ended = zip(*processes.map(work, parts), strict=True)
    seconds: float = max(ended) - min(began)
    return seconds


def _post(part: Part) -> tuple[float, float]:
    rng = random.Random(part.round)
    awards = [award(part.round * AWARDS + number, rng.randrange(part.accounts)) for number in range(AWARDS)]
    batches = iter(_batches(awards[part.number :: part.of]))

    async def main() -> tuple[float, float]:
        async with _pool(part.url, part.connections) as pool:
            ledger = PostgresLedger(pool, SystemClock())

            async def hand() -> None:
                for batch in batches:
                    await ledger.post(batch)

            return await _timed(hand, part.connections)

    with _leaving_out(part.without):
        return uvloop.run(main())


@contextmanager
def _leaving_out(what: str) -> Iterator[None]:
    """No ledger can do without; this is to tell what it costs."""
    chain, lock = transfer.chain, rows._LOCK  # noqa: SLF001  # the statement is nobody else's business
    try:
        if what == CHAIN:
            transfer.chain = lambda previous, body: _NO_CHAIN  # noqa: ARG005  # by the names that it has
        if what == LOTS:
            rows._LOCK = lock.replace(_LOTS, "")  # type: ignore[misc]  # noqa: SLF001  # for once
        yield
    finally:
        transfer.chain, rows._LOCK = chain, lock  # type: ignore[misc]  # noqa: SLF001  # as it was


def _copy(part: Part) -> tuple[float, float]:
    """The rows posted last, put further along the sequences of their accounts."""

    async def main() -> tuple[float, float]:
        async with _pool(part.url, part.connections) as pool:
            rows = await pool.fetch(_POSTED, FAR, AWARDS)
            further = FAR * (2 * part.round + part.copied + 1)
            records = [(*row[:2], row["seq"] + further, *row[3:]) for row in rows[part.number :: part.of]]
            batches = iter(_batches(records))

            async def hand() -> None:
                async with pool.acquire() as connection:
                    for batch in batches:
                        await connection.copy_records_to_table("transfer", records=batch, columns=Transfer._fields)

            return await _timed(hand, part.connections)

    return uvloop.run(main())


def _batches(things: Sequence[Thing]) -> list[Sequence[Thing]]:
    return [things[start : start + BATCH] for start in range(0, len(things), BATCH)]


async def _timed(hand: Callable[[], Awaitable[None]], hands: int) -> tuple[float, float]:
    """When it began, together with the other processes, and when it ended."""
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
        Kind.EARN,
        180,
        _NOW,
        date(2026, 11, 30),
        activity,
        f"{number:032x}",
        _EXPLANATION,
    )


@asynccontextmanager
async def _pool(url: str, size: int, *, owner: bool = False) -> AsyncIterator[Pool]:
    pool = await (
        open_pool(url, size=size, role=None)
        if owner
        else open_pool(url, size=size, settings=POSTING_PLANS, keeps_nothing=True)
    )
    try:
        yield pool
    finally:
        await pool.close()
